package main

import (
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/rows"
	"github.com/everypage-go/everypage/bench/workload"
)

// families returns all that is measured, in the order of the table. What takes
// long comes last, so that it gets the time that is left.
func families(s rows.Setup, shorter int) []measure.Family {
	return []measure.Family{
		rows.Raw(s, workload.Random, 1, 0.65),
		rows.Raw(s, workload.Sequential, 1, 0.75),
		rows.Raw(s, workload.Random, 16, 0.6),
		rows.Raw(s, workload.Sequential, 16, 0.7),
		rows.AtMostOnce(s, 5_000),
		rows.River(s, 1, 1_000),
		rows.River(s, 16, 2_000),
		rows.DBOS(s, 1, 2_000),
		rows.DBOS(s, 16, 2_000),
		rows.SQLite(s, 5_000),
		rows.Overlap(s),
		rows.DecodeArray(),
		rows.DecodeObject(),
		rows.Allocations(s),
		rows.Length(s, workload.Random, shorter),
		rows.Length(s, workload.Sequential, shorter),
	}
}
