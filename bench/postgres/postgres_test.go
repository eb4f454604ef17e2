package postgres_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/everypage-go/everypage/bench/postgres"
)

func TestServer(t *testing.T) {
	if _, err := postgres.Find(); err != nil {
		if os.Getenv("EVERYPAGE_REQUIRE_REAL") == "1" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // another account runs the server in it
		t.Fatal(err)
	}
	shared := &postgres.Shared{Dir: dir}
	server, err := shared.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	url, drop, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	connection, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var durable string
	if err := connection.QueryRow(t.Context(), "show synchronous_commit").Scan(&durable); err != nil {
		t.Fatal(err)
	}
	if durable != "on" {
		t.Errorf("synchronous_commit is %q: the comparison would not be durable", durable)
	}
	if err := connection.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := drop(); err != nil {
		t.Error(err)
	}
	if err := shared.Stop(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
