// Package testenv gives a test real engines: a NATS with the log's stream and
// buckets, and a ClickHouse with the tables, both its own and empty.
//
// The source of the engines is chosen once for all tests of a run and printed
// on standard error:
//
//  1. ERRATA_TEST_NATS_URL and ERRATA_TEST_CLICKHOUSE_DSN name servers;
//  2. ERRATA_TEST_CONTAINERS=1 starts containers (make test-containers, with the
//     build tag containers);
//  3. otherwise they are embedded: a NATS in the test's process for each test,
//     one ClickHouse child process for all tests of the process.
//
// A test whose engine is missing fails and says what to run; it is never
// skipped. The package is for tests only.
package testenv

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

const (
	// logBytes is the room of a test's log.
	logBytes = 256 << 20
	// storeBytes is the limit of its NATS: the log and the buckets, also those of
	// a second namespace. It takes no disk by itself.
	storeBytes = logBytes + 2<<30
	// startTimeout is long, for a busy machine and for images of containers that
	// have to be pulled.
	startTimeout = 5 * time.Minute
	// databasePrefix begins the name of every test's database.
	databasePrefix = "errata_test"
	// stopTimeout bounds the wait at the end of a test.
	stopTimeout = 20 * time.Second
)

// Env is the environment of one test.
type Env struct {
	*Broker
	// ClickHouse is a connection with Database selected.
	ClickHouse driver.Conn
	// ReadOnlyClickHouse is the same, for reading only.
	ReadOnlyClickHouse driver.Conn
	// Database is the name of the ClickHouse database, with all tables made.
	Database string

	clickhouse *engine.ClickHouse // the shared one, nil when external
	options    *clickhouse.Options
}

// New gives the test engines of its own and removes them when it ends. A test
// that reads no records uses [NewBroker].
func New(t testing.TB) *Env {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	b := newBroker(ctx, t)
	e := &Env{Broker: b, Database: databasePrefix + "_" + b.unique}
	e.startClickHouse(ctx)
	if err := e.makeTables(ctx); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Views(ctx, e.ClickHouseOptions(), e.Views()); err != nil {
		t.Fatal(err)
	}
	return e
}

// startClickHouse makes the test's database and connections to it.
func (e *Env) startClickHouse(ctx context.Context) {
	e.t.Helper()
	var writer, reader *clickhouse.Options
	if dsn := e.backends.clickHouseDSN; dsn != "" {
		external, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{DSN: dsn, Database: e.Database, Logger: quiet()})
		if err != nil {
			e.t.Fatal(err)
		}
		e.t.Cleanup(func() { e.stop(external.Stop) })
		writer, reader = external.Options(), external.ReadOnlyOptions()
	} else {
		e.clickhouse = sharedClickHouse.acquire(ctx, e.t)
		e.t.Cleanup(func() { sharedClickHouse.release(e.t) })
		if err := e.clickhouse.Conn().Exec(ctx, "CREATE DATABASE `"+e.Database+"`"); err != nil {
			e.t.Fatalf("create the test's database: %v", err)
		}
		writer, reader = e.clickhouse.Options(), e.clickhouse.ReadOnlyOptions()
		writer.Auth.Database, reader.Auth.Database = e.Database, e.Database
	}
	e.options = writer
	e.ClickHouse = e.Open(writer)
	e.t.Cleanup(func() { e.stop(e.dropDatabase) })
	e.ReadOnlyClickHouse = e.Open(reader)
}

// Open connects to ClickHouse until the test ends.
func (e *Env) Open(options *clickhouse.Options) driver.Conn {
	e.t.Helper()
	conn, err := clickhouse.Open(options)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			e.t.Errorf("close the connection to ClickHouse: %v", err)
		}
	})
	return conn
}

// OpenWithin connects to ClickHouse until the test ends. Queries that need more memory fail.
func (e *Env) OpenWithin(memory uint64) driver.Conn {
	e.t.Helper()
	options := e.ClickHouseOptions()
	options.Settings["max_memory_usage"] = memory
	return e.Open(options)
}

func (e *Env) dropDatabase(ctx context.Context) error {
	var errs []error
	for _, name := range []string{e.Views(), e.Database, e.Database + "_snapshot", e.Database + "_rebuild"} {
		drop := "DROP DATABASE IF EXISTS `" + name + "` SYNC"
		err := e.ClickHouse.Exec(ctx, drop)
		for range 3 { // a connection from before a kill fails at its first use
			if err == nil {
				break
			}
			err = e.ClickHouse.Exec(ctx, drop)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Views is the database of the views for analysts.
func (e *Env) Views() string { return engine.ViewsDatabase(e.Database) }

func (e *Env) stop(what func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := what(ctx); err != nil {
		e.t.Error(err)
	}
}

// ClickHouseOptions is a copy of the options of ClickHouse, for another kind of
// connection.
func (e *Env) ClickHouseOptions() *clickhouse.Options {
	copied := *e.options
	copied.Settings = maps.Clone(e.options.Settings)
	return &copied
}

// randomName is unique enough for servers that many runs share.
func randomName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

// quiet drops the engines' logs: a test that needs them starts its own engine.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
