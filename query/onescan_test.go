package query_test

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// TestPageAmongMerges checks that a page has the right records while merges move
// every row between the two halves of one_scan.sql.
func TestPageAmongMerges(t *testing.T) {
	env := testenv.New(t)
	const user, often, records = 777, 1 << 40, 300
	quiet, busy := newModel(1), newModel(2)
	for range 3 { // parts
		rows := quiet.grow(records / 3)
		from := len(quiet.live) - len(rows)
		for i := range rows {
			rows[i].record.UserID, rows[i].record.Count = user, often
			quiet.live[from+i] = rows[i].record
		}
		insert(t.Context(), t, env.ClickHouse, rows)
	}
	insert(t.Context(), t, env.ClickHouse, busy.grow(3000))

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var writer sync.WaitGroup
	var merges atomic.Int64
	writer.Go(func() {
		for ; ctx.Err() == nil; merges.Add(1) {
			for range 2 {
				insert(context.WithoutCancel(ctx), t, env.ClickHouse, busy.change(300, 0))
			}
			if err := env.ClickHouse.Exec(context.WithoutCancel(ctx), "OPTIMIZE TABLE records FINAL"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	defer stop()
	id := int64(user)
	filters := []query.Filter{{UserID: &id}, {MinOccurrence: often}, {MinOccurrence: often, Books: errata.Books}}
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	for i := 0; i < 150 || merges.Load() < 10 && !t.Failed(); i++ {
		f := filters[i%len(filters)]
		p := query.Page{Order: query.Orders[i%len(query.Orders)], Direction: query.Ascending, Number: 1 + i%4, Limit: 25}
		list, err := reader.Find(t.Context(), f, p)
		if err != nil {
			t.Fatal(err)
		}
		want := quiet.list(f, p.Order, p.Direction)
		if list.Total != records || !reflect.DeepEqual(list.Records, want[(p.Number-1)*p.Limit:p.Number*p.Limit]) {
			t.Fatalf("list %d, %s: total %d, want %d, or other records than are due", i, describe(f, p), list.Total, records)
		}
	}
}

// TestRangeAmongChanges checks that the total of a range is that of one moment: a
// record that moves within the range meanwhile is counted once.
func TestRangeAmongChanges(t *testing.T) {
	env := testenv.New(t)
	const records = 2000
	m := newModel(3)
	insert(t.Context(), t, env.ClickHouse, m.grow(records))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var writer sync.WaitGroup
	var changes atomic.Int64
	writer.Go(func() {
		for ; ctx.Err() == nil; changes.Add(1) {
			var rows []row
			for i, old := range m.live {
				now := m.seeAgain(old)
				now.LastSeen = m.instant() // may be earlier, so that it can move on again
				m.live[i], rows = now, append(rows, row{old, -1}, row{now, 1})
			}
			insert(context.WithoutCancel(ctx), t, env.ClickHouse, rows)
		}
	})
	defer writer.Wait()
	defer stop()
	// All records lie in this range, some on its last day.
	f := query.Filter{From: modelDay.AddDate(0, 0, -40).Add(time.Hour), To: modelDay.Add(time.Hour)}
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	for i := 0; i < 300 || changes.Load() < 20 && !t.Failed(); i++ {
		list, err := reader.Find(t.Context(), f, query.Page{Number: 100})
		if err != nil {
			t.Fatal(err)
		}
		if list.Total != records {
			t.Fatalf("list %d: total %d, want %d", i, list.Total, records)
		}
	}
}
