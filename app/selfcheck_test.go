package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

// TestRecordsDeletedFromDisk deletes all that ClickHouse has of the records
// while the service is stopped. The next start shows them again without a hand,
// and is ready.
func TestRecordsDeletedFromDisk(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	run(t, a)
	ingestKey := key(t, a.Welcome().IngestKeyFile)
	send := func(a *app.App, message string) {
		t.Helper()
		if status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/events", ingestKey, `{"message":"`+message+`"}`); status != http.StatusAccepted {
			t.Fatalf("event: %d %s, want 202", status, body)
		}
	}
	send(a, "one thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 })
	send(a, "another thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Data, "selfcheck.json")); err != nil {
		t.Errorf("a clean stop left no mark: %v", err)
	}
	parts, err := filepath.Glob(filepath.Join(o.Data, "clickhouse", "store", "*", "*", "all_*", "by_count.proj"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("no parts of the records in the data folder (%v)", err)
	}
	for _, projection := range parts {
		if err := os.RemoveAll(filepath.Dir(projection)); err != nil {
			t.Fatal(err)
		}
	}

	o.Registry = nil
	a = build(t, o)
	run(t, a)
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	send(a, "another thing broke")
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 && rows[0].Count+rows[1].Count == 3 })
	if status, body := get(t, a.Welcome().URL+"/readyz", ""); status != http.StatusOK {
		t.Errorf("readyz: %d %s, want 200", status, body)
	}
	status, body := request(t, http.MethodGet, a.Welcome().URL+"/api/v1/admin/ops/status", key(t, a.Welcome().AdminKeyFile), "")
	if status != http.StatusOK || !strings.Contains(body, `"self-check"`) {
		t.Errorf("the status has no line of the self-check: %d %s", status, body)
	}
}
