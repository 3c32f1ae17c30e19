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
	checkFirings(t, reader, want)
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

// checkFirings asks for firings of the rule "a", of which there are two and no others.
func checkFirings(t *testing.T, reader *query.Reader, want []alerts.Firing) {
	t.Helper()
	ctx, first, second := t.Context(), want[0].Position, want[1].Position
	for _, c := range []struct {
		after, last errata.Position
		limit       int
		want        []alerts.Firing
		all         uint64
	}{
		{0, second, 10, want, 2}, {0, second, 1, want[:1], 2}, {0, first, 10, want[:1], 1}, {first, second, 10, want[1:], 1}, {second, second, 10, nil, 0},
	} {
		got, all, err := reader.Firings(ctx, "a", c.after, c.last, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || all != c.all {
			t.Errorf("after %d up to %d: %d in all, want %d (-want +got)\n%s", c.after, c.last, all, c.all, diff)
		}
	}
	if got, all, err := reader.Firings(ctx, "b", 0, second, 10); err != nil || len(got) > 0 || all > 0 {
		t.Errorf("of another rule: %v, %d, %v", got, all, err)
	}
	for _, c := range []struct{ after, before, last errata.Position }{{0, second + 1, second}, {0, second, first}, {first, second, 0}} {
		last, err := reader.Fired(ctx, c.after, c.before)
		if err != nil || last["a"] != c.last {
			t.Errorf("fired behind %d and before %d: %v, %v, want %d", c.after, c.before, last, err, c.last)
		}
	}
}
