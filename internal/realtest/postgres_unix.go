//go:build unix

package realtest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// StartPostgres starts a database cluster of its own until the test ends, and
// returns how to connect to it. It listens on a socket in its own folder alone.
// The cluster does not sync: it is thrown away.
func StartPostgres(tb testing.TB) (dsn string) {
	tb.Helper()
	initdb, postgres := postgresProgram(tb, "initdb"), postgresProgram(tb, "postgres")
	folder, err := os.MkdirTemp("", "pg") //nolint:usetesting // PostgreSQL's own user has to reach it, and a socket's path is short
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(folder) }) // it is in the folder for temporary files
	as := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		as.Credential = postgresUser(tb)
		if err := os.Chown(folder, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	data := filepath.Join(folder, "data")
	create := exec.CommandContext(tb.Context(), initdb, "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync") //nolint:gosec // the program that was just looked for
	create.SysProcAttr, create.Dir = as, folder
	if said, err := create.CombinedOutput(); err != nil {
		tb.Fatalf("initdb: %v\n%s", err, said)
	}
	server := exec.Command(postgres, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off") //nolint:noctx,gosec // it ends with the test, by its process id
	server.SysProcAttr, server.Dir = as, folder
	_, said := start(tb, server, `(ready to accept connections)`)
	tb.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT) // gone already, or at once, with its children
		<-said.ended
	})
	return "host=" + folder + " user=postgres dbname=postgres sslmode=disable"
}

// postgresProgram returns where a program of PostgreSQL's server stands: Debian
// keeps it out of the path, in a folder a version.
func postgresProgram(tb testing.TB, name string) string {
	tb.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	if len(found) == 0 {
		missing(tb, "no "+name+` here; on Debian "apt-get install postgresql" brings it`)
	}
	return slices.Max(found)
}

// postgresUser is the user that the package makes.
func postgresUser(tb testing.TB) *syscall.Credential {
	tb.Helper()
	owner, err := user.Lookup("postgres")
	if err != nil {
		missing(tb, `no user postgres here, and PostgreSQL does not run as root; on Debian "apt-get install postgresql" makes it`)
	}
	uid, err := strconv.ParseUint(owner.Uid, 10, 32)
	if err != nil {
		tb.Fatal(err)
	}
	gid, err := strconv.ParseUint(owner.Gid, 10, 32)
	if err != nil {
		tb.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
