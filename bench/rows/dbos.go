package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // one of its backends
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// DBOS compares the engine with a durable workflow: a page a workflow, an item a
// step of it. Its faster backend counts.
func DBOS(s Setup, concurrency, items int) measure.Family {
	walk := workload.Walk{IDs: workload.Random, Items: s.Items, Concurrency: concurrency}
	f := measure.Family{
		Name:  fmt.Sprintf("dbos/%d", concurrency),
		Work:  fmt.Sprintf("random IDs, %s: %s items with the engine, %s steps with DBOS Transact", atATime(concurrency), thousands(s.Items), thousands(items)),
		Title: "DBOS Transact",
		Means: "A durable workflow records each step and its result, so that a crash goes on after the last one. SQLite is set to synchronous FULL, since its faster setting can lose what was confirmed when the machine stops; connections and concurrency are those that did best.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }},
			{Name: "dbos-sqlite", Run: func(ctx context.Context) (measure.Sample, error) { return s.dbosSQLite(ctx, concurrency, items) }},
		},
		Check: checked(walk),
	}
	backends := "SQLite (WAL, FULL)"
	if s.withoutPostgres() == "" {
		backends += " or PostgreSQL, the faster"
		f.Sides = append(f.Sides, measure.Side{Name: "dbos-postgres", Run: func(ctx context.Context) (measure.Sample, error) {
			return s.dbosPostgres(ctx, concurrency, items)
		}})
	}
	f.Rows = []measure.Row{{
		Name: fmt.Sprintf("against DBOS Transact on %s, an item a step: %s", backends, atATime(concurrency)),
		Of:   overFaster("engine", "dbos-sqlite", "dbos-postgres"), Unit: "×", Bar: measure.AtLeast(20),
		Beside: []measure.Absolute{
			{Side: "engine", Metric: itemsPerSecond, Unit: "items/s"},
			{Side: "dbos-sqlite", Metric: itemsPerSecond, Unit: "items/s"},
			{Side: "dbos-postgres", Metric: itemsPerSecond, Unit: "items/s"},
		},
	}}
	return f
}

// dbosConnections is how many connections to SQLite did best: more of them wait
// for each other's transactions.
const dbosConnections = 2

func (s Setup) dbosSQLite(ctx context.Context, concurrency, items int) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		// DBOS opens its own with synchronous at NORMAL, which can lose what was
		// confirmed when the machine stops.
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "dbos.db")+
			"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(ON)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(dbosConnections)
		sample, err = dbosSteps(ctx, dbos.Config{SQLiteSystemDB: db}, concurrency, items)
		return errors.Join(err, db.Close())
	})
	return sample, err
}

func (s Setup) dbosPostgres(ctx context.Context, concurrency, items int) (measure.Sample, error) {
	return s.database(ctx, func(pool *pgxpool.Pool) (measure.Sample, error) {
		return dbosSteps(ctx, dbos.Config{SystemDBPool: pool}, concurrency, items)
	})
}

// dbosSteps runs the steps of a list, a workflow for each page.
func dbosSteps(ctx context.Context, config dbos.Config, concurrency, items int) (sample measure.Sample, err error) {
	config.AppName, config.Logger = "bench", slog.New(slog.DiscardHandler)
	engine, err := dbos.NewContext(ctx, config)
	if err != nil {
		return nil, err
	}
	page := func(ctx dbos.Context, ids []string) (int, error) { return dbosPage(ctx, ids, concurrency) }
	dbos.RegisterWorkflow(engine, page, dbos.WithWorkflowName("page"))
	if err := dbos.Launch(engine); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(engine, 10*time.Second)) }()
	stop := start(items)
	for from := 0; from < items; from += workload.PageSize {
		ids := workload.Random.Page(from, min(workload.PageSize, items-from))
		handle, err := dbos.RunWorkflow(engine, page, ids)
		if err != nil {
			return nil, err
		}
		done, err := handle.GetResult()
		if err != nil {
			return nil, err
		}
		if done != len(ids) {
			return nil, fmt.Errorf("%d of %d steps are done", done, len(ids))
		}
	}
	return stop(), nil
}

// dbosPage does a page's steps, so many at a time.
func dbosPage(ctx dbos.Context, ids []string, concurrency int) (done int, err error) {
	step := func(context.Context) (int, error) { return 1, nil }
	if concurrency == 1 {
		for range ids {
			if _, err := dbos.RunAsStep(ctx, step); err != nil {
				return done, err
			}
			done++
		}
		return done, nil
	}
	running := make([]<-chan dbos.StepOutcome[int], 0, concurrency)
	await := func() error {
		outcome := <-running[0]
		running = running[1:]
		done++
		return outcome.Err
	}
	for range ids {
		if len(running) == concurrency {
			if err := await(); err != nil {
				return done, err
			}
		}
		outcome, err := dbos.Go(ctx, step)
		if err != nil {
			return done, err
		}
		running = append(running, outcome)
	}
	for len(running) > 0 {
		if err := await(); err != nil {
			return done, err
		}
	}
	return done, nil
}
