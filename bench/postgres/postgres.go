// Package postgres starts a PostgreSQL of its own for a benchmark: a new cluster
// in a folder, reached through a socket in it, and gone afterwards.
package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Find returns the folder of PostgreSQL's programs, the newest version where
// there are several. The error says how to get it.
func Find() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian has them
	if err != nil {
		return "", err
	}
	newest, folder := -1.0, ""
	for _, program := range found {
		bin := filepath.Dir(program)
		if version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64); err == nil && version > newest {
			newest, folder = version, bin
		}
	}
	if folder != "" {
		return folder, nil
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(program), nil
	}
	return "", errors.New("PostgreSQL is not there; Debian's package is postgresql")
}

// settings are what one would set for a queue: durable, with room for its pages,
// and without a checkpoint during the measurement.
func settings(folder string) []string {
	return []string{
		"listen_addresses=", "unix_socket_directories=" + folder,
		"fsync=on", "synchronous_commit=on", "full_page_writes=on",
		"shared_buffers=256MB", "max_wal_size=4GB", "min_wal_size=1GB", "checkpoint_timeout=30min",
		"wal_level=minimal", "max_wal_senders=0", "max_connections=60", "jit=off",
	}
}

// Server is a running PostgreSQL.
type Server struct {
	Version string
	folder  string
	process *exec.Cmd
	log     *bytes.Buffer
	ended   chan struct{}
	next    atomic.Int64
}

// Start makes a cluster below dir and starts it.
func Start(ctx context.Context, dir string) (*Server, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, "everypage-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, log: new(bytes.Buffer), ended: make(chan struct{})}
	if err := s.start(ctx, bin); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, bin string) error {
	who, err := account()
	if err != nil {
		return err
	}
	if who != nil {
		if err := os.Chown(s.folder, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.folder, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata="+data, "--username=bench", "--auth=trust", "--encoding=UTF8", "--locale=C")
	initdb.SysProcAttr = as(who)
	initdb.Dir = s.folder
	if text, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, text)
	}
	args := []string{"-D", data}
	for _, setting := range settings(s.folder) {
		args = append(args, "-c", setting)
	}
	s.process = exec.Command(filepath.Join(bin, "postgres"), args...) // ended by Stop, in order
	s.process.SysProcAttr = as(who)
	s.process.Dir = s.folder
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	go func() {
		_ = s.process.Wait() // how it ended is told by what follows
		close(s.ended)
	}()
	return s.wait(ctx)
}

// wait returns when the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		connection, err := pgx.Connect(ctx, s.url("postgres"))
		if err == nil {
			err = connection.QueryRow(ctx, "show server_version").Scan(&s.Version)
			return errors.Join(err, connection.Close(ctx))
		}
		select {
		case <-s.ended:
			return fmt.Errorf("PostgreSQL ended: %s", s.log)
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) url(database string) string {
	return "postgres://bench@/" + database + "?host=" + s.folder + "&sslmode=disable"
}

// Database makes an empty database and returns its URL. drop removes it.
func (s *Server) Database(ctx context.Context) (url string, drop func() error, err error) {
	name := "bench" + strconv.FormatInt(s.next.Add(1), 10)
	if err := s.exec(ctx, "create database "+name); err != nil {
		return "", nil, err
	}
	return s.url(name), func() error {
		return s.exec(context.WithoutCancel(ctx), "drop database "+name+" with (force)")
	}, nil
}

func (s *Server) exec(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, statement)
	return errors.Join(err, connection.Close(ctx))
}

// Stop ends the server and removes its cluster.
func (s *Server) Stop() error {
	if s.process != nil {
		_ = s.process.Process.Signal(os.Interrupt) // its fast shutdown; it may have ended
		select {
		case <-s.ended:
		case <-time.After(20 * time.Second):
			_ = s.process.Process.Kill()
			<-s.ended
		}
	}
	return os.RemoveAll(s.folder)
}

// account returns who PostgreSQL runs as: it refuses root. nil is the caller.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nobody else
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is neither an account postgres nor nobody")
}

// as makes a program run as somebody, away from the terminal's interrupts: Stop
// ends it after its clients.
func as(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: who, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}
