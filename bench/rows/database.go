package rows

import (
	"context"
	"errors"
	"runtime"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/everypage-go/everypage/bench/crash"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/postgres"
	"github.com/everypage-go/everypage/bench/workload"
)

// withoutPostgres says why families that need PostgreSQL are skipped.
func (s Setup) withoutPostgres() string {
	if _, err := postgres.Find(); err != nil {
		return err.Error()
	}
	return ""
}

// database calls work with a new database of PostgreSQL.
func (s Setup) database(ctx context.Context, work func(*pgxpool.Pool) (measure.Sample, error)) (sample measure.Sample, err error) {
	server, err := s.Postgres.Server(ctx)
	if err != nil {
		return nil, err
	}
	url, drop, err := server.Database(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 24 // more than handlers at a time
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	runtime.GC()
	return work(pool)
}

// overFaster is the ratio of a side to the fastest of the others that ran.
func overFaster(side string, others ...string) func(measure.Round) float64 {
	return func(r measure.Round) float64 {
		fastest := 0.0
		for _, other := range others {
			fastest = max(fastest, r[other][itemsPerSecond])
		}
		return r[side][itemsPerSecond] / fastest
	}
}

// checked is the check of a family in which the engine walks as walk says.
func checked(walk workload.Walk) func(context.Context, uint64) error {
	return func(ctx context.Context, seed uint64) error { return crash.Check(ctx, walk, seed) }
}
