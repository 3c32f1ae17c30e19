package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// TestChanged compares what changed with a model, with and without merges.
func TestChanged(t *testing.T) {
	env := testenv.New(t)
	ctx := t.Context()
	if err := env.ClickHouse.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		t.Fatal(err)
	}
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	m := newModel(21)
	insert(ctx, t, env.ClickHouse, m.grow(400))
	var marks []errata.Position
	for range 4 {
		marks = append(marks, m.version+1)
		insert(ctx, t, env.ClickHouse, m.change(150, 20))
		insert(ctx, t, env.ClickHouse, m.grow(30))
	}
	check := func(step string) {
		for _, from := range append(marks, m.version+1) {
			for _, c := range []query.Changes{
				{From: from, To: m.version + 1},
				{From: from, To: m.version + 1, SeenFrom: modelDay.Add(-24 * time.Hour)},
				{From: from, To: m.version + 1, SeenTo: modelDay.Add(-24 * time.Hour)},
				{From: from, To: marks[3]},
			} {
				var want []errata.Record
				for _, r := range m.live {
					if r.Version >= c.From && r.Version < c.To && !r.LastSeen.Before(c.SeenFrom) && (c.SeenTo.IsZero() || r.LastSeen.Before(c.SeenTo)) {
						want = append(want, r)
					}
				}
				got, total, err := reader.Changed(ctx, c, 1000)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(byID(want), byID(got), compare...); diff != "" || total != uint64(len(want)) {
					t.Errorf("%s, %+v: total %d, want %d (-want +got):\n%.2000s", step, c, total, len(want), diff)
				}
				few, total, err := reader.Changed(ctx, c, 7)
				if err != nil || len(few) != min(7, len(want)) || total != uint64(len(want)) {
					t.Errorf("%s, %+v: 7 of %d are %d of %d (%v)", step, c, len(want), len(few), total, err)
				}
				for i := 1; i < len(few); i++ {
					if few[i].Version > few[i-1].Version {
						t.Errorf("%s, %+v: not the newest first", step, c)
					}
				}
			}
		}
	}
	check("no merges")
	if err := env.ClickHouse.Exec(ctx, "SYSTEM START MERGES records"); err != nil {
		t.Fatal(err)
	}
	if err := env.ClickHouse.Exec(ctx, "OPTIMIZE TABLE records FINAL"); err != nil {
		t.Fatal(err)
	}
	check("merged")
}

func byID(list []errata.Record) map[errata.Position]errata.Record {
	all := map[errata.Position]errata.Record{}
	for _, r := range list {
		all[r.ID] = r
	}
	return all
}
