package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// Firings are read as they were written, and those of a quiet project say nothing of a
// record, also where there is one with the empty signature.
func TestFiringsAndTheirItems(t *testing.T) {
	env := testenv.New(t)
	ctx := t.Context()
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	m := newModel(5)
	live := m.sight()
	live.Book, live.Project, live.Message = errata.BookSystem, 2, "it failed"
	empty := live
	empty.Signature, empty.ID, empty.Message = errata.Signature{}, 0, "not this one"
	insert(ctx, t, env.ClickHouse, []row{{live, 1}, {empty, 1}})
	at := time.UnixMilli(1_795_231_120_000).UTC()
	want := []alerts.Firing{
		{Position: errata.PositionOf(7, 1), Rule: "a", Cause: alerts.CauseSpike, Clock: at.UnixMilli(), Record: live.Key(), ID: live.ID, Project: 2, Count: 9,
			Level: errata.LevelError, Environment: "prod", Release: "1", Events: 120, Usual: 12, Minutes: 60},
		{Position: errata.PositionOf(8, 0), Rule: "a", Cause: alerts.CauseQuiet, Clock: at.UnixMilli(), Record: errata.RecordKey{Book: errata.BookSystem}, Project: 3, Minutes: 90},
	}
	for _, f := range want {
		if err := env.ClickHouse.Exec(ctx, `INSERT INTO firings (book, signature, id, position, rule, cause, clock, project, number, environment, release, level, count, events, usual, minutes)
			VALUES (?, unhex(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`, f.Record.Book.String(), f.Record.Signature.String(), uint64(f.ID), uint64(f.Position), f.Rule, string(f.Cause),
			at, f.Project, f.Count, f.Environment, f.Release, f.Level.String(), f.Events, f.Usual, f.Minutes); err != nil {
			t.Fatal(err)
		}
	}
	for after, n := range map[errata.Position]int{0: 0, want[0].Position: 1, want[1].Position: 2} {
		got, err := reader.Firings(ctx, after, 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[n:], append([]alerts.Firing{}, got...)); diff != "" {
			t.Errorf("after %d (-want +got)\n%s", after, diff)
		}
	}
	items, err := reader.Items(ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	if spike := items[0]; spike.Text != "it failed" || spike.Events != 120 || spike.Usual != 12 || spike.Minutes != 60 || spike.Count != 9 || spike.Environment != "prod" {
		t.Errorf("spike: %+v", spike)
	}
	if diff := cmp.Diff(alerts.Item{Cause: alerts.CauseQuiet, Event: at, Project: "3", Minutes: 90}, items[1]); diff != "" {
		t.Errorf("quiet project (-want +got)\n%s", diff)
	}
}
