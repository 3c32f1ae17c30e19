//go:build linux

package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/engine"
)

// The embedded ClickHouse refuses what a user may not do with one of these codes: not
// enough privileges, readonly, a setting out of bounds.
var refusals = []string{"code: 497", "code: 164", "code: 452"}

func refused(err error) bool {
	for _, code := range refusals {
		if err != nil && strings.Contains(err.Error(), code) {
			return true
		}
	}
	return false
}

func TestUsersReachNothingButTables(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	exec(t, e, createTable)
	exec(t, e, "INSERT INTO t VALUES (1)")
	for _, statement := range []string{
		"SELECT * FROM file('/etc/passwd', LineAsString)",
		"INSERT INTO FUNCTION file('x', LineAsString) VALUES ('a')",
		"SELECT * FROM url('http://127.0.0.1:1/', LineAsString)",
		"SELECT * FROM remote('127.0.0.1:1', system.one)",
		"SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
		"CREATE TABLE f (a String) ENGINE = File(CSV, 'x')",
		"CREATE TABLE u (a String) ENGINE = URL('http://127.0.0.1:1/')",
		"CREATE DATABASE d ENGINE = Filesystem('/etc')",
		"BACKUP TABLE t TO File('b')",
		"CREATE USER u",
	} {
		if err := e.ClickHouse().Exec(t.Context(), statement); !refused(err) {
			t.Errorf("the service's user: %s: %v, want a refusal", statement, err)
		}
	}
	for _, statement := range []string{
		"INSERT INTO t VALUES (2)",
		"ALTER TABLE t DELETE WHERE 1",
		"DROP TABLE t",
		"CREATE TABLE x (n UInt64) ENGINE = Memory",
		"SELECT * FROM system.users",
		"SELECT * FROM file('/etc/passwd', LineAsString)",
		"SYSTEM SHUTDOWN",
		"SET readonly = 0",
		"SELECT 1 SETTINGS max_execution_time = 100000",
		"SELECT 1 SETTINGS max_execution_time = 0",
		"SELECT 1 SETTINGS max_memory_usage = 0",
	} {
		if err := e.ReadOnlyClickHouse().Exec(t.Context(), statement); !refused(err) {
			t.Errorf("the reader: %s: %v, want a refusal", statement, err)
		}
	}
	var rows uint64
	if err := e.ReadOnlyClickHouse().QueryRow(t.Context(), "SELECT count() FROM t").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("the reader reads %d rows, error %v, want 1", rows, err)
	}
}

// No right is needed for the function file(), so the kernel keeps the engine
// from reading anything but its own.
func TestEngineReadsNoFilesButItsOwn(t *testing.T) {
	dir := t.TempDir()
	var log strings.Builder
	cfg := config(t, dir)
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	e := start(t, cfg)
	for who, conn := range map[string]driver.Conn{"the service's user": e.ClickHouse(), "the reader": e.ReadOnlyClickHouse()} {
		for _, path := range []string{"/etc/passwd", "/proc/1/environ", filepath.Join(dir, "errata.lock"), filepath.Join(dir, "nats")} {
			var text string
			if err := conn.QueryRow(t.Context(), "SELECT file(?)", path).Scan(&text); err == nil {
				t.Errorf("%s has read %d bytes of %s", who, len(text), path)
			}
		}
	}
	stop(t, e) // nothing is logged after it
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if warned := strings.Contains(log.String(), "not confined"); warned {
		t.Errorf("the kernel has version %d of Landlock, 2 is needed for this to hold; the log says\n%s", int(version), log.String())
	}
}

// The engine needs a user without a password to start. Over the port that user must not
// be able to do anything.
func TestUserWithoutPasswordCanDoNothing(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	for name, settings := range map[string]clickhouse.Settings{
		"as it is":         nil,
		"without the wait": {"sleep_after_receiving_query_ms": 0},
	} {
		conn := connect(t, e.ClickHouseForTest(), "default", "", settings)
		for _, statement := range []string{
			"SELECT 1",
			"SYSTEM STOP LISTEN TCP",
			"SELECT * FROM file('/etc/passwd', LineAsString) SETTINGS sleep_after_receiving_query_ms = 0",
		} {
			// Half a second is a hundred times what these statements take.
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			err := conn.Exec(ctx, statement)
			cancel()
			noAnswer := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
			if !refused(err) && !noAnswer {
				t.Errorf("%s: %s: %v, want a refusal or no answer", name, statement, err)
			}
		}
	}
	exec(t, e, "SELECT 1")
	for _, user := range []string{"errata", "errata_reader", engine.AnalystUser} {
		for _, password := range []string{"", "errata"} {
			if err := connect(t, e.ClickHouseForTest(), user, password, nil).Ping(t.Context()); err == nil {
				t.Errorf("user %s got in with the password %q", user, password)
			}
		}
	}
}

func connect(t *testing.T, ch *engine.ClickHouse, user, password string, settings clickhouse.Settings) driver.Conn {
	t.Helper()
	u, err := url.Parse(ch.DSNForTest())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr:     []string{u.Host},
		Auth:     clickhouse.Auth{Username: user, Password: password},
		Settings: settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
