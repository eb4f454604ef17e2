package main

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
)

// Each flag reaches what it is for.
func TestFlagsReachTheJob(t *testing.T) {
	var flags runFlags
	cmd := &cobra.Command{Use: "run"}
	flags.register(cmd)
	err := cmd.ParseFlags([]string{
		"--contract", "stripe-v1", "--job", "j", "--action", "a", "--page-size", "7", "--sort", "created", "--order", "stable",
		"--items-at", "rows", "--run-id", "r", "--once", "job", "--cutoff", "server", "--incremental", "--deadline", "2h", "--at-most-once",
		"--accept-unstable", "--drop-vanished", "--concurrency", "4", "--attempts", "5", "--wait", "3s", "--read-ahead", "--force", "--supersede-lost", "2",
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	job, err := flags.build("https://api.example.com/v1/things?kind=x&limit=7", log)
	if err != nil {
		t.Fatal(err)
	}
	options := everypage.Options{Concurrency: 4, MaxAttempts: 5, WaitUpTo: 3 * time.Second, ReadAhead: true, Force: true, SupersedeLost: 2, Logger: log}
	if !reflect.DeepEqual(job.Options, options) {
		t.Errorf("the options are %+v", job.Options)
	}
	if job.Name != "j" || job.Action != "a" || job.RunID != "r" || job.Once != everypage.OnceAJob || job.Cutoff != everypage.ServerCutoff ||
		!job.Incremental || job.Deadline != 2*time.Hour || !job.AtMostOnce || !job.AcceptUnstable || !job.DropVanished {
		t.Errorf("the job is %+v", job)
	}
	described, ok := job.Pager.(pager.Describer)
	if !ok {
		t.Fatal("the pager does not describe itself")
	}
	d := described.Describe()
	if d.Endpoint != "https://api.example.com/v1/things" || d.Filter != "kind=x" || d.PageSize != 7 || d.Sort != "created" || d.Order != pager.OrderStable || d.Contract != "stripe-v1" {
		t.Errorf("the list is %+v", d)
	}
}
