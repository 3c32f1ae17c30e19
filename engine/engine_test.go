//go:build linux

package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		runHelper()
	}
	goleak.VerifyTestMain(m)
}

func config(t testing.TB, dir string) engine.Config {
	t.Helper()
	return engine.Config{
		Dir: hold(t, dir), Options: engine.Options{EngineBinary: testenv.EngineBinary(t), LogMaxBytes: 64 << 20}, Logger: quiet,
	}
}

// held are the data folders that tests hold, by path.
var held sync.Map

// hold holds a data folder until the test ends. It may be called again.
func hold(t testing.TB, path string) *datadir.Dir {
	t.Helper()
	if dir, ok := held.Load(path); ok {
		return dir.(*datadir.Dir)
	}
	dir, err := datadir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	held.Store(path, dir)
	t.Cleanup(func() {
		held.Delete(path)
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func start(t testing.TB, cfg engine.Config) *engine.Engines {
	t.Helper()
	e, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, e) })
	return e
}

func stop(t testing.TB, e *engine.Engines) {
	t.Helper()
	if err := e.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func exec(t testing.TB, e *engine.Engines, statement string) {
	t.Helper()
	if err := e.ClickHouse().Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// createTable makes a table that is as durable as those of the projection.
const createTable = "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"

func TestStartStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	for round := range uint64(3) {
		begin := time.Now()
		e := start(t, config(t, dir))
		started := time.Since(begin)
		if round == 0 {
			exec(t, e, createTable)
		}
		exec(t, e, "INSERT INTO t VALUES (1)")
		var rows uint64
		var name string
		if err := e.ClickHouse().QueryRow(t.Context(), "SELECT count(), currentDatabase() FROM t").Scan(&rows, &name); err != nil {
			t.Fatal(err)
		}
		if rows != round+1 || name != "errata_store" || e.Database() != "errata_store" {
			t.Errorf("round %d: %d rows in database %q, want %d in errata_store", round, rows, name, round+1)
		}
		if !e.SyncAlwaysForTest() {
			t.Error("the embedded NATS does not sync before it answers")
		}

		begin = time.Now()
		stop(t, e)
		stopped := time.Since(begin)
		stop(t, e) // again, without harm
		t.Logf("round %d: started in %s, stopped in %s", round, started.Round(time.Millisecond), stopped.Round(time.Millisecond))
		// A clean end takes less than half of the time after which the child is killed.
		if stopped > 1500*time.Millisecond {
			t.Errorf("it took %s to stop", stopped)
		}
		if _, ok := e.EmbeddedClickHouse(); ok {
			t.Error("after Stop there is an embedded ClickHouse")
		}
		if err := e.ClickHouse().Ping(t.Context()); err == nil {
			t.Error("after Stop ClickHouse answers")
		}
		if e.NATS.Conn().IsConnected() {
			t.Error("after Stop NATS is connected")
		}
		if left, err := os.ReadDir(filepath.Join(dir, "run")); err != nil || len(left) != 0 {
			t.Errorf("after Stop %d files with a password are left, error %v", len(left), err)
		}
	}
}

func TestSecondServiceOnOneDirectoryIsRefused(t *testing.T) {
	cfg := config(t, t.TempDir())
	first := start(t, cfg)
	_, err := datadir.Open(cfg.Dir.Path())
	if err == nil {
		t.Fatal("a second service may use the same directory")
	}
	for _, want := range []string{cfg.Dir.Path(), "in use by", "process"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	exec(t, first, "SELECT 1") // the first one was not disturbed
	stop(t, first)
	start(t, cfg)
}

func TestMissingPartsAreNamedInOneSentence(t *testing.T) {
	text := filepath.Join(t.TempDir(), "not-a-library.so")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*engine.Config)
		want   []string
	}{
		"library": {
			func(c *engine.Config) { c.LibCHDB = "/nowhere/libchdb.so" },
			[]string{"/nowhere/libchdb.so", "make engine", "ERRATA_CLICKHOUSE_DSN"},
		},
		"program": {
			func(c *engine.Config) { c.EngineBinary = "/nowhere/errata-engine" },
			[]string{"/nowhere/errata-engine", "make build", "ERRATA_CLICKHOUSE_DSN"},
		},
		"program beside the running one": {
			func(c *engine.Config) { c.EngineBinary = "" },
			[]string{"errata-engine does not exist", "make build"},
		},
		"library that is none": {
			func(c *engine.Config) { c.LibCHDB = text },
			[]string{"exit status 69", text, "make engine"},
		},
		"program that is none": {
			func(c *engine.Config) { c.EngineBinary = text },
			[]string{text, "permission denied"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, t.TempDir())
			test.change(&cfg)
			_, err := engine.Start(t.Context(), cfg)
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q has more than one line", err)
			}
		})
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Start(ctx, config(t, t.TempDir())); err == nil {
		t.Error("it started although its context had ended")
	}
}

func TestKilledChildComesBackWithItsData(t *testing.T) {
	registry := prometheus.NewRegistry()
	cfg := config(t, t.TempDir())
	cfg.Registerer = registry
	e := start(t, cfg)
	exec(t, e, createTable)

	// Acknowledged inserts are there after any number of kills. A failed one does not
	// count, since its outcome is not known.
	const kills = 5
	var acknowledged, unknown uint64
	for range kills {
		for range 10 {
			if e.ClickHouse().Exec(t.Context(), "INSERT INTO t VALUES (1)") == nil {
				acknowledged++
			} else {
				unknown++
			}
		}
		pid, ok := e.EmbeddedClickHouse()
		if !ok {
			t.Fatal("there is no embedded ClickHouse to kill")
		}
		killed := time.Now()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		for e.ClickHouse().Ping(ctx) != nil {
			if ctx.Err() != nil {
				t.Fatal("the connection did not come back in 10 s")
			}
		}
		cancel()
		t.Logf("it answers again after %s", time.Since(killed).Round(time.Millisecond))
	}
	var rows uint64
	if err := e.ClickHouse().QueryRow(t.Context(), "SELECT count() FROM t").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if rows < acknowledged || rows > acknowledged+unknown {
		t.Errorf("%d rows, want %d and at most %d more", rows, acknowledged, unknown)
	}
	if acknowledged < kills*9 {
		t.Errorf("only %d of %d inserts were acknowledged between the kills", acknowledged, kills*10)
	}
	if got := restarts(t, registry); got != kills {
		t.Errorf("errata_clickhouse_restarts_total is %v, want %d", got, kills)
	}
	if check := find(t, e, "clickhouse restarts"); check.OK || !strings.HasPrefix(check.Detail, "5, ") {
		t.Errorf("the check of restarts says %+v", check)
	}
	stop(t, e)
	if left, err := registry.Gather(); err != nil || len(left) != 0 {
		t.Errorf("after Stop %d metrics are registered, error %v", len(left), err)
	}
}

func restarts(t *testing.T, registry *prometheus.Registry) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "errata_clickhouse_restarts_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("there is no metric errata_clickhouse_restarts_total")
	return 0
}

func TestRestartNATS(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	bucket := createBucket(t, e)
	if _, err := bucket.Put(t.Context(), "k", []byte("before")); err != nil {
		t.Fatal(err)
	}
	if err := e.NATS.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for e.NATS.Conn().FlushWithContext(ctx) != nil {
		if ctx.Err() != nil {
			t.Fatal("the connection did not come back in 10 s")
		}
	}
	entry, err := bucket.Get(ctx, "k")
	if err != nil || string(entry.Value()) != "before" {
		t.Errorf("after a restart the bucket has %v, error %v", entry, err)
	}
	stop(t, e)
	if err := e.NATS.Restart(t.Context()); err == nil {
		t.Error("NATS was restarted after Stop")
	}
}

func createBucket(t *testing.T, e *engine.Engines) jetstream.KeyValue {
	t.Helper()
	bucket, err := e.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}

func TestChecks(t *testing.T) {
	cfg := config(t, t.TempDir())
	cfg.LazySync = true
	e := start(t, cfg)
	if e.SyncAlwaysForTest() {
		t.Error("lazy sync was asked for and NATS syncs always")
	}
	for name, want := range map[string]struct {
		ok     bool
		detail string
	}{
		"nats":                {true, "embedded, version 2."},
		"log storage":         {true, "of 64 MiB used"},
		"log sync":            {false, "lazy"},
		"clickhouse":          {true, "database errata_store"},
		"clickhouse restarts": {true, "none"},
		"clickhouse limits":   {true, "reads its own files only, and no client can end it"},
	} {
		check := find(t, e, name)
		if check.OK != want.ok || !strings.Contains(check.Detail, want.detail) || (check.Hint == "") != check.OK {
			t.Errorf("check %+v, want OK %t, a detail with %q, and a hint only when it is not OK", check, want.ok, want.detail)
		}
	}
	stop(t, e)
	for _, name := range []string{"nats", "log storage", "clickhouse"} {
		if check := find(t, e, name); check.OK || check.Hint == "" {
			t.Errorf("after Stop the check says %+v", check)
		}
	}
}

func find(t *testing.T, e *engine.Engines, name string) errata.Check {
	t.Helper()
	for _, check := range e.Checks(t.Context()) {
		if check.Name == name {
			return check
		}
	}
	t.Fatalf("there is no check %q", name)
	return errata.Check{}
}
