package app_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// asOlderVersion makes the records of a stopped service those of an older version,
// which kept the level info of each first event.
func asOlderVersion(t *testing.T, o app.Options) {
	t.Helper()
	dir, err := datadir.Open(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	engines, err := engine.Start(t.Context(), engine.Config{Options: o.Options, Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(errors.Join(err, dir.Close()))
	}
	err = testenv.AsOlderVersion(t.Context(), engines.ClickHouse(), 0, "info")
	if err = errors.Join(err, engines.Stop(context.WithoutCancel(t.Context())), dir.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestStartAfterAnOlderVersion: the first start after the update gives the records the
// levels that the log has, and a replay after that finds no difference.
func TestStartAfterAnOlderVersion(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	run(t, a)
	ingest := key(t, a.Welcome().IngestKeyFile)
	for _, event := range []string{`{"message":"gets worse","level":"info"}`, `{"message":"gets worse","level":"fatal"}`, `{"message":"stays","level":"info"}`} {
		if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingest, event); status != http.StatusAccepted {
			t.Fatalf("event: %d %s, want 202", status, body)
		}
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 && rows[0].Count+rows[1].Count == 3 })
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	asOlderVersion(t, o)

	o.Registry = nil
	a = build(t, o)
	run(t, a)
	awaitRecords(t, a, func(rows []row) bool {
		levels := map[string]string{}
		for _, r := range rows {
			levels[r.MessagePreview] = r.Level
		}
		return len(rows) == 2 && levels["gets worse"] == "fatal" && levels["stays"] == "info"
	})
	admin := key(t, a.Welcome().AdminKeyFile)
	eventually(t, "a replay finds no difference", func() bool {
		status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/admin/ops/replay", admin, "")
		return status == http.StatusOK && strings.Contains(body, `"swapped":true`) && strings.Contains(body, `"outdated":false,"differences":[]`)
	})
	if said := opsStatus(t, a); strings.Contains(said, "older version") {
		t.Errorf("the status still speaks of an older version: %s", said)
	}
}
