package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// SQLite compares the engine with a ledger that a program would write by hand: a
// row an item, beside one a page.
func SQLite(s Setup, items int) measure.Family {
	walk := workload.Walk{IDs: workload.Random, Items: s.Items, Concurrency: 1}
	row := func(side, name string, bar float64) measure.Row {
		return measure.Row{
			Name: "against a hand-written SQLite ledger (WAL, FULL), " + name,
			Of:   measure.Ratio("engine", side, itemsPerSecond), Unit: "×", Bar: measure.AtLeast(bar),
			Beside: []measure.Absolute{{Side: "engine", Metric: itemsPerSecond, Unit: "items/s"}, {Side: side, Metric: itemsPerSecond, Unit: "items/s"}},
		}
	}
	return measure.Family{
		Name:  "sqlite",
		Work:  fmt.Sprintf("random IDs, one at a time: %s items with the engine and with one transaction a page, %s with one an item", thousands(s.Items), thousands(items)),
		Title: "SQLite by hand",
		Means: "What many write themselves. With one transaction an item each success is durable before the next call. With one a page a crash forgets up to a page of successes, and their items are called again; the engine keeps them.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }},
			{Name: "sqlite-item", Run: func(ctx context.Context) (measure.Sample, error) { return s.sqlite(ctx, items, true) }},
			{Name: "sqlite-page", Run: func(ctx context.Context) (measure.Sample, error) { return s.sqlite(ctx, s.Items, false) }},
		},
		Rows: []measure.Row{
			row("sqlite-item", "one transaction an item", 20),
			row("sqlite-page", "one transaction a page", 1),
		},
		Check: checked(walk),
	}
}

const sqliteSchema = `
	create table pages (number integer primary key, cursor text not null);
	create table items (id text primary key, page integer not null, place integer not null, state integer not null) without rowid;`

// sqlite records a list. What was there already would be left as it is, as a
// ledger has to.
func (s Setup) sqlite(ctx context.Context, items int, eachItem bool) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "ledger.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		sample, err = sqliteWalk(ctx, db, items, eachItem)
		return errors.Join(err, db.Close())
	})
	return sample, err
}

func sqliteWalk(ctx context.Context, db *sql.DB, items int, eachItem bool) (measure.Sample, error) {
	if _, err := db.ExecContext(ctx, sqliteSchema); err != nil {
		return nil, err
	}
	var mode string
	var level int
	if err := errors.Join(
		db.QueryRowContext(ctx, "pragma journal_mode").Scan(&mode),
		db.QueryRowContext(ctx, "pragma synchronous").Scan(&level)); err != nil {
		return nil, err
	}
	if mode != "wal" || level != 2 {
		return nil, fmt.Errorf("SQLite is at journal_mode %s, synchronous %d: not what is compared", mode, level)
	}
	page, err := db.PrepareContext(ctx, "insert into pages (number, cursor) values (?, ?)")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	item, err := db.PrepareContext(ctx, "insert into items (id, page, place, state) values (?, ?, ?, 1) on conflict do nothing")
	if err != nil {
		return nil, err
	}
	defer item.Close()
	stop := start(items)
	for from := 0; from < items; from += workload.PageSize {
		ids := workload.Random.Page(from, min(workload.PageSize, items-from))
		write := sqlitePage
		if eachItem {
			write = sqliteItems
		}
		if err := write(ctx, db, page, item, from/workload.PageSize, ids); err != nil {
			return nil, err
		}
	}
	return stop(), nil
}

// sqliteItems makes the page durable, and then one item after the other.
func sqliteItems(ctx context.Context, _ *sql.DB, page, item *sql.Stmt, number int, ids []string) error {
	if _, err := page.ExecContext(ctx, number, ids[0]); err != nil {
		return err
	}
	for place, id := range ids { // each statement is a transaction
		if _, err := item.ExecContext(ctx, id, number, place); err != nil {
			return err
		}
	}
	return nil
}

// sqlitePage makes the page and all that is on it durable at once.
func sqlitePage(ctx context.Context, db *sql.DB, page, item *sql.Stmt, number int, ids []string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing is left to roll back after the commit
	if _, err := tx.StmtContext(ctx, page).ExecContext(ctx, number, ids[0]); err != nil {
		return err
	}
	insert := tx.StmtContext(ctx, item)
	for place, id := range ids {
		if _, err := insert.ExecContext(ctx, id, number, place); err != nil {
			return err
		}
	}
	return tx.Commit()
}
