package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// expectOpenDoors expects that the service takes events while ClickHouse is away and says
// why there are no records, and that all records are there when ClickHouse is back.
func expectOpenDoors(t *testing.T, o app.Options, why string, back func()) {
	t.Helper()
	began := time.Now()
	a := first(t, o)
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the start took %v", took)
	}
	run(t, a)
	url, keys := a.Welcome().URL, keyFiles(t, o.Data)
	ingest, admin := keys[datadir.IngestKeyFile], keys[datadir.AdminKeyFile]
	if status, body := get(t, url+"/readyz", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, "store_unavailable") {
		t.Errorf("readyz: %d %s, want 503 store_unavailable", status, body)
	}
	for range 3 {
		if status, body := request(t, http.MethodPost, url+"/api/v1/events", ingest, `{"message":"while away"}`); status != http.StatusAccepted {
			t.Errorf("event: %d %s, want 202", status, body)
		}
	}
	for _, path := range []string{"/api/v1/admin/tools/logs/errors", "/api/v1/admin/tools/logs/overview"} {
		if status, body := get(t, url+path, admin); status != http.StatusServiceUnavailable || !strings.Contains(body, "store_unavailable") {
			t.Errorf("%s: %d %s, want 503 store_unavailable", path, status, body)
		}
	}
	if status, body := request(t, http.MethodPost, url+"/api/v1/admin/ops/replay", admin, `{}`); status != http.StatusServiceUnavailable {
		t.Errorf("replay: %d %s, want 503", status, body)
	}
	if said := opsStatus(t, a); !strings.Contains(said, `"clickhouse-away"`) || !strings.Contains(said, why) {
		t.Errorf("the status has no alarm that says %q: %s", why, said)
	}
	back()
	awaitReady(t, url)
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 3 })
	if _, metrics := get(t, url+"/metrics", ""); strings.Contains(metrics, `errata_alarm{name="clickhouse-away"}`) {
		t.Error("the alarm stands although ClickHouse is back")
	}
}

func awaitReady(t *testing.T, url string) {
	t.Helper()
	type answer struct {
		status int
		body   string
	}
	await(t, "the service is ready", func() (got answer) {
		got.status, got.body = get(t, url+"/readyz", "")
		return got
	}, func(got answer) bool { return got.status == http.StatusOK })
}

// TestStartWhileTheEngineDoesNot: the embedded ClickHouse fails to start for as
// long as a file is missing.
func TestStartWhileTheEngineDoesNot(t *testing.T) {
	o := testOptions(t)
	flag := filepath.Join(t.TempDir(), "may start")
	o.EngineBinary = failingProgram(t, flag, o.EngineBinary)
	expectOpenDoors(t, o, "it ended before it answered (exit status 70): no", func() {
		if err := os.WriteFile(flag, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// clickHouseElsewhere starts an external server and returns a DSN with another port. That
// port does not answer until the returned function is called.
func clickHouseElsewhere(t *testing.T) (dsn *url.URL, open func()) {
	t.Helper()
	dir := t.TempDir()
	ch, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{
		DataDir: filepath.Join(dir, "clickhouse"), RunDir: filepath.Join(dir, "run"),
		EngineBinary: testenv.EngineBinary(t), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ch.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	shown, err := url.Parse(key(t, filepath.Join(dir, "run", "clickhouse.dsn")))
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	auth := ch.Options().Auth
	dsn = &url.URL{Scheme: "clickhouse", User: url.UserPassword(auth.Username, auth.Password), Host: addr, Path: "/elsewhere"}
	return dsn, func() {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		go func() { // ends with the listener
			for {
				from, err := listener.Accept()
				if err != nil {
					return
				}
				go pass(from, shown.Host)
			}
		}()
	}
}

// pass passes a connection on until one side ends it.
func pass(from net.Conn, addr string) {
	defer from.Close()
	to, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { // ends with both
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(from, to)
}

func TestStartWhileAServerIsAway(t *testing.T) {
	dsn, open := clickHouseElsewhere(t)
	o := testOptions(t)
	o.ClickHouseDSN = dsn.String()
	expectOpenDoors(t, o, "connection refused", open)
}

// A wrong password ends the start: waiting does not help.
func TestStartWithAWrongPasswordFails(t *testing.T) {
	dsn, open := clickHouseElsewhere(t)
	open()
	dsn.User = url.UserPassword("errata", "wrong-password")
	o := testOptions(t)
	o.ClickHouseDSN = dsn.String()
	a, err := app.New(t.Context(), o)
	if err == nil {
		_ = a.Stop(context.Background())
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "516") || strings.Contains(err.Error(), "wrong-password") {
		t.Errorf("error %q does not say 516, or says the password", err)
	}
}

// TestOlderLogWhileTheEngineIsAway: a log that was restored to an older state uses no
// sequence twice, even when ClickHouse cannot say how far the records are.
func TestOlderLogWhileTheEngineIsAway(t *testing.T) {
	a := olderLog(t, func(string) {})
	eventually(t, "ClickHouse is back", func() bool {
		status, _ := get(t, a.Welcome().URL+"/api/v1/admin/tools/logs/errors", key(t, a.Welcome().AdminKeyFile))
		return status == http.StatusOK
	})
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 5 })
	expectAlarm(t, a.Welcome().URL, "log-older") // until somebody decides about what it lost
}

// Without the mark of the log an alarm tells the operator.
func TestOlderLogThatNobodyKnows(t *testing.T) {
	a := olderLog(t, func(data string) {
		if err := os.Remove(filepath.Join(data, "log.mark")); err != nil {
			t.Fatal(err)
		}
	})
	awaitMetric(t, a, `errata_alarm{name="sequences-used-twice"} 1`)
}

// olderLog is a service whose log was restored to an older state and whose engine was
// away when an event came. It calls before with the data folder.
func olderLog(t *testing.T, before func(data string)) *app.App {
	t.Helper()
	o := testOptions(t)
	backup := filepath.Join(t.TempDir(), "nats")
	whole := o.EngineBinary
	serve := func(events, want uint64) {
		t.Helper()
		a := build(t, o)
		stop := run(t, a)
		sendEvents(t, a, events)
		awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == want })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		o.Registry = nil
	}
	serve(1, 1)
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(o.Data, "nats"))); err != nil {
		t.Fatal(err)
	}
	serve(3, 4)
	if err := errors.Join(os.RemoveAll(filepath.Join(o.Data, "nats")), os.CopyFS(filepath.Join(o.Data, "nats"), os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}

	before(o.Data)
	flag := filepath.Join(t.TempDir(), "may start")
	o.EngineBinary = failingProgram(t, flag, whole)
	a := build(t, o)
	run(t, a)
	sendEvents(t, a, 1)
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

func sendEvents(t *testing.T, a *app.App, n uint64) {
	t.Helper()
	for range n {
		if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", key(t, a.Welcome().IngestKeyFile), `{"message":"hello"}`); status != http.StatusAccepted {
			t.Fatalf("event: %d %s, want 202", status, body)
		}
	}
}

// stoppedWithTwoEvents are the options of a service that has one record of two
// events and was stopped.
func stoppedWithTwoEvents(t *testing.T) app.Options {
	t.Helper()
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	sendEvents(t, a, 2)
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 2 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	return o
}

// failingProgram is an errata-engine that ends at once while the file is missing.
func failingProgram(t *testing.T, flag, whole string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "errata-engine")
	script := fmt.Sprintf("#!/bin/sh\n[ -e '%s' ] || { echo no >&2; exit 70; }\nexec '%s' \"$@\"\n", flag, whole)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}
