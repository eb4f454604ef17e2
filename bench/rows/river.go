package rows

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// River compares the engine with a queue on PostgreSQL: an item a job, inserted
// a page at once, and the next page when all jobs of the one before are completed.
func River(s Setup, concurrency, items int) measure.Family {
	walk := workload.Walk{IDs: workload.Random, Items: s.Items, Concurrency: concurrency}
	return measure.Family{
		Name:  fmt.Sprintf("river/%d", concurrency),
		Work:  fmt.Sprintf("random IDs, %s: %s items with the engine, %s jobs with River on PostgreSQL", atATime(concurrency), thousands(s.Items), thousands(items)),
		Skip:  s.withoutPostgres,
		Title: "River",
		Means: "A queue keeps more than a ledger does: who works on a job, its arguments, when to try again. It is what one would take to do each item once without a library such as this one. It polls and fetches at its shortest intervals; its own completer and a transaction a job are both measured, and the faster one counts.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }},
			{Name: "river", Run: func(ctx context.Context) (measure.Sample, error) { return s.river(ctx, concurrency, items, false) }},
			{Name: "river-tx", Run: func(ctx context.Context) (measure.Sample, error) { return s.river(ctx, concurrency, items, true) }},
		},
		Rows: []measure.Row{{
			Name: "against River on PostgreSQL (tuned), an item a job, page barrier: " + atATime(concurrency),
			Of:   overFaster("engine", "river", "river-tx"), Unit: "×", Bar: measure.AtLeast(20),
			Beside: []measure.Absolute{
				{Side: "engine", Metric: itemsPerSecond, Unit: "items/s"},
				{Side: "river", Metric: itemsPerSecond, Unit: "items/s"},
				{Side: "river-tx", Metric: itemsPerSecond, Unit: "items/s"},
			},
		}},
		Check: checked(walk),
	}
}

// riverItem is the arguments of an item's job.
type riverItem struct {
	ID string `json:"id"`
}

func (riverItem) Kind() string { return "item" }

// riverWorker does nothing. With tx, it completes its job in a transaction of its
// own, as the faster of two ways to make each job durable; without, River's own
// completer does it for many jobs at once.
type riverWorker struct {
	river.WorkerDefaults[riverItem]
	pool *pgxpool.Pool
	tx   bool
}

func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverItem]) error {
	if !w.tx {
		return nil
	}
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// river works a list of items with River, in a database of its own.
func (s Setup) river(ctx context.Context, concurrency, items int, tx bool) (measure.Sample, error) {
	return s.database(ctx, func(pool *pgxpool.Pool) (measure.Sample, error) {
		driver := riverpgxv5.New(pool)
		migrator, err := rivermigrate.New(driver, nil)
		if err != nil {
			return nil, err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return nil, err
		}
		workers := river.NewWorkers()
		river.AddWorker(workers, &riverWorker{pool: pool, tx: tx})
		client, err := river.NewClient(driver, &river.Config{
			Logger:            slog.New(slog.DiscardHandler),
			Workers:           workers,
			Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: concurrency}},
			FetchCooldown:     river.FetchCooldownMin,
			FetchPollInterval: 5 * river.FetchPollIntervalMin,
		})
		if err != nil {
			return nil, err
		}
		completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{
			ChanSize: 10 * workload.PageSize,
			Kinds:    []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed},
		})
		defer cancel()
		if err := client.Start(ctx); err != nil {
			return nil, err
		}
		defer func() { _ = client.Stop(context.WithoutCancel(ctx)) }() // its database is dropped
		stop := start(items)
		for from := 0; from < items; from += workload.PageSize {
			page := workload.Random.Page(from, min(workload.PageSize, items-from))
			if err := riverPage(ctx, client, completed, page); err != nil {
				return nil, err
			}
		}
		return stop(), nil
	})
}

// riverPage inserts a page's jobs and returns when all are completed.
func riverPage(ctx context.Context, client *river.Client[pgx.Tx], completed <-chan *river.Event, ids []string) error {
	jobs := make([]river.InsertManyParams, len(ids))
	for i, id := range ids {
		jobs[i] = river.InsertManyParams{Args: riverItem{ID: id}}
	}
	if _, err := client.InsertManyFast(ctx, jobs); err != nil {
		return err
	}
	for range ids {
		select {
		case event := <-completed:
			if event.Kind != river.EventKindJobCompleted {
				return fmt.Errorf("job %d of River failed", event.Job.ID)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
