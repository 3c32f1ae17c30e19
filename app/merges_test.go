package app_test

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// TestMergesThatAKilledServiceStopped: a ClickHouse of the operator's own outlives a service that was
// killed, and keeps its merges stopped. The next start begins them again.
func TestMergesThatAKilledServiceStopped(t *testing.T) {
	dsn, open := clickHouseElsewhere(t)
	open()
	tables := []string{"records", "contexts", "latest_contexts", "hourly", "deployments", "occurrences"}
	o := testOptions(t)
	o.ClickHouseDSN = dsn.String()
	serve := func(events, want uint64) (stop func() error) {
		t.Helper()
		a := first(t, o)
		stop = run(t, a)
		sendEvents(t, a, events)
		awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == want })
		return stop
	}
	if err := serve(1, 1)(); err != nil {
		t.Fatal(err)
	}
	options, err := clickhouse.ParseDSN(dsn.String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, table := range tables {
		if err := conn.Exec(t.Context(), "SYSTEM STOP MERGES "+table); err != nil {
			t.Fatal(err)
		}
	}
	merge := func(table string) error {
		return conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL SETTINGS optimize_throw_if_noop = 1")
	}
	if merge("records") == nil {
		t.Fatal("merges are not stopped")
	}
	o.Registry = nil
	serve(1, 2)
	for _, table := range tables {
		if err := merge(table); err != nil {
			t.Errorf("%s is not merged: %v", table, err)
		}
	}
}
