package projector_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/projector"
)

const (
	// lateMerge is where ClickHouse lets a test stop a merge that has written its rows. It does
	// not look any more whether merges were stopped.
	lateMerge = "merge_task_projection_stage_pause"
	// chosenMerge is where a merge is chosen and has not begun.
	chosenMerge = "mt_merge_selecting_task_pause_when_scheduled"
)

// pause stops the next merge at a point, and goOn lets it continue.
func (l *ledger) pause(point string) (goOn func()) {
	l.t.Helper()
	l.exec("SYSTEM ENABLE FAILPOINT " + point)
	goOn = sync.OnceFunc(func() {
		if err := l.ClickHouse.Exec(context.WithoutCancel(l.t.Context()), "SYSTEM DISABLE FAILPOINT "+point); err != nil {
			l.t.Error(err)
		}
	})
	l.t.Cleanup(goOn)
	return goOn
}

// partsOf are the names of the table's parts, the oldest first.
func (l *ledger) partsOf(table string) []string {
	l.t.Helper()
	var names []string
	row := l.ClickHouse.QueryRow(l.t.Context(), "SELECT groupArray(name) FROM (SELECT name FROM system.parts WHERE database = currentDatabase() AND table = ? AND active ORDER BY min_block_number)", table)
	if err := row.Scan(&names); err != nil {
		l.t.Fatal(err)
	}
	return names
}

// byHand folds an event after another into parts of their own, which ClickHouse merges when it is
// told to only. The projector has stopped.
func (l *ledger) byHand(events int) {
	l.t.Helper()
	for _, table := range tables {
		l.exec("ALTER TABLE " + table + " MODIFY SETTING merge_selector_algorithm = 'Manual'")
	}
	_, stop := l.start()
	for i := range events {
		l.append(event(fmt.Sprint("problem ", i), fmt.Sprint(i)))
		l.barrier()
	}
	stop()
}

// merge begins to merge the youngest two parts of the records, up to the point. into are the first
// and the last block of the new part.
func (l *ledger) merge(point string) (into string, goOn func()) {
	l.t.Helper()
	names := l.partsOf("records")
	young := names[len(names)-2:]
	goOn = l.pause(point)
	l.exec("SYSTEM SCHEDULE MERGE records PARTS '" + strings.Join(young, "', '") + "'")
	l.exec("SYSTEM WAIT FAILPOINT " + point + " PAUSE")
	return strings.Split(young[0], "_")[1] + "_" + strings.Split(young[1], "_")[2], goOn
}

// heard is a connection that tells a test what is asked. before may refuse it.
type heard struct {
	driver.Conn
	before func(statement string) error
	after  func(statement string)
}

func (h heard) Exec(ctx context.Context, statement string, args ...any) error {
	if h.before != nil {
		if err := h.before(statement); err != nil {
			return err
		}
	}
	return h.Conn.Exec(ctx, statement, args...)
}

func (h heard) QueryRow(ctx context.Context, statement string, args ...any) driver.Row {
	row := h.Conn.QueryRow(ctx, statement, args...)
	if h.after != nil {
		h.after(statement)
	}
	return row
}

const asksForMerges = "FROM system.merges\n" // merges_running.sql

// A rewind does not drop parts that a merge is about to replace.
func TestRewindBesideAMerge(t *testing.T) {
	l := newLedger(t)
	l.byHand(3)
	want, names := l.records(), l.partsOf("records")
	_, goOn := l.merge(lateMerge)
	cfg := l.config()
	cfg.ClickHouse = heard{Conn: l.ClickHouse,
		before: func(statement string) error {
			if strings.Contains(statement, "DROP PART") {
				goOn() // ClickHouse waits for the merge before it drops a part
			}
			return nil
		},
		after: func(statement string) {
			if strings.Contains(statement, asksForMerges) {
				goOn()
			}
		}}
	p := must(t, cfg)
	to, err := p.Rewind(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if left := l.partsOf("records"); !slices.Equal(left, names[:len(names)-2]) || l.checkpoint(p) != to {
		t.Errorf("the parts are %v at %+v, were %v; told: %+v", left, l.checkpoint(p), names, to)
	}
	if l.Optimize("records") {
		t.Error("the merges were not started again")
	}
	_, stop := l.start()
	l.barrier()
	stop()
	if got := l.records(); len(got) != len(want) || got["problem 2"].Count != 1 {
		t.Errorf("the records are %v, were %v", got, want)
	}
}

// A hold returns when the running merges have ended, and keeps one from its begin that was
// chosen before.
func TestHoldWaitsForMerges(t *testing.T) {
	for point, merged := range map[string]bool{lateMerge: true, chosenMerge: false} {
		t.Run(point, func(t *testing.T) {
			l := newLedger(t)
			l.byHand(3)
			into, goOn := l.merge(point)
			conn := heard{Conn: l.ClickHouse, after: func(statement string) {
				if strings.Contains(statement, asksForMerges) {
					goOn()
				}
			}}
			merges := projector.NewStore(conn, 0).Merges()
			release, err := merges.Hold(t.Context(), "records")
			if err != nil {
				t.Fatal(err)
			}
			if !merges.Held("records") || merges.Held("contexts") {
				t.Error("it does not say what is held")
			}
			before := l.partsOf("records")
			there := slices.ContainsFunc(before, func(name string) bool { return strings.HasPrefix(name, "all_"+into+"_") })
			if there != merged {
				t.Errorf("the parts are %v, merged: %t, want %t", before, there, merged)
			}
			if !l.Optimize("records") {
				t.Error("a held table was merged")
			}
			if after := l.partsOf("records"); !slices.Equal(after, before) {
				t.Errorf("the parts of a held table were %v and are %v", before, after)
			}
			if err := release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if l.Optimize("records") || merges.Held("records") {
				t.Error("the merges were not started again")
			}
		})
	}
}

// A hold that may not wait any longer for a merge holds nothing.
func TestHoldGivesUp(t *testing.T) {
	l := newLedger(t)
	l.byHand(3)
	_, goOn := l.merge(lateMerge)
	ctx, cancel := context.WithCancel(t.Context())
	conn := heard{Conn: l.ClickHouse, after: func(statement string) {
		if strings.Contains(statement, asksForMerges) {
			cancel()
		}
	}}
	merges := projector.NewStore(conn, 0).Merges()
	if _, err := merges.Hold(ctx, "records"); !errors.Is(err, context.Canceled) {
		t.Errorf("while a merge runs, a hold answers %v", err)
	}
	goOn()
	if merges.Held("records") || l.Optimize("records") {
		t.Error("a hold that failed still holds the merges")
	}
}

// Holders come and go in any order. The merges of a table are stopped as long as one of them
// holds it, and started by the last.
func TestHoldsAreCounted(t *testing.T) {
	l := newLedger(t)
	l.byHand(2)
	merges := projector.NewStore(l.ClickHouse, 0).Merges()
	sets := [][]string{{"records"}, {"contexts"}, {"records", "contexts"}, {"hourly"}}
	var work sync.WaitGroup
	for holder := range 6 {
		random := rand.New(rand.NewPCG(uint64(holder), 1))
		work.Go(func() {
			for range 30 {
				held := sets[random.IntN(len(sets))]
				release, err := merges.Hold(t.Context(), held...)
				if err != nil {
					t.Error(err)
					return
				}
				for _, table := range held {
					if !merges.Held(table) || !l.Optimize(table) {
						t.Errorf("%s is held and was merged", table)
					}
				}
				for range 1 + random.IntN(2) { // the second one does nothing
					if err := release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	work.Wait()
	for _, table := range tables {
		if merges.Held(table) || l.Optimize(table) {
			t.Errorf("nobody holds %s, and it is not merged", table)
		}
	}
}

// ClickHouse lets a table take its stopped merges along when it gets another name. A hold is of
// the name: it holds the table that comes, and not the one that goes.
func TestHoldOutlivesAnExchange(t *testing.T) {
	l := newLedger(t)
	l.byHand(3)
	p := must(t, l.config())
	release, err := p.Store().Merges().Hold(t.Context(), "records")
	if err != nil {
		t.Fatal(err)
	}
	before := l.number("SELECT sipHash64(toString(uuid)) FROM system.tables WHERE database = currentDatabase() AND name = 'records'")
	if comparison, err := projector.Rebuild(t.Context(), p, l.rebuild()); err != nil || !comparison.Swapped {
		t.Fatalf("rebuilt: %+v, %v", comparison, err)
	}
	if before == l.number("SELECT sipHash64(toString(uuid)) FROM system.tables WHERE database = currentDatabase() AND name = 'records'") {
		t.Fatal("the table is the same as before")
	}
	if !l.Optimize("records") {
		t.Error("the new table was merged although its name is held")
	}
	if l.Optimize("contexts") {
		t.Error("a table that nobody holds is not merged")
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.Optimize("records") {
		t.Error("the merges of the new table were not started")
	}
}

// A start begins with the merges that a killed process has left stopped, and leaves those alone
// that are held in this one.
func TestMergesOfAKilledProcessGoOn(t *testing.T) {
	l := newLedger(t)
	l.byHand(2)
	if _, err := projector.NewStore(l.ClickHouse, 0).Merges().Hold(t.Context(), "records", "contexts"); err != nil {
		t.Fatal(err)
	}
	merges := projector.NewStore(l.ClickHouse, 0).Merges()
	release, err := merges.Hold(t.Context(), "contexts")
	if err != nil {
		t.Fatal(err)
	}
	if err := merges.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.Optimize("records") {
		t.Error("the merges stay stopped although who has stopped them is gone")
	}
	if !l.Optimize("contexts") {
		t.Error("a held table was merged")
	}
	if err := release(t.Context()); err != nil || l.Optimize("contexts") {
		t.Errorf("the merges were not started again: %v", err)
	}
}

// Merges that ClickHouse does not start when they are let go are started later.
func TestMergesThatWereNotStarted(t *testing.T) {
	l := newLedger(t)
	l.byHand(2)
	away := errors.New("ClickHouse is away")
	var answer error
	merges := projector.NewStore(heard{Conn: l.ClickHouse, before: func(string) error { return answer }}, 0).Merges()
	release, err := merges.Hold(t.Context(), "records")
	if err != nil {
		t.Fatal(err)
	}
	answer = away
	if err := release(t.Context()); !errors.Is(err, away) || merges.Held("records") {
		t.Errorf("let go while ClickHouse is away: %v", err)
	}
	if _, err := merges.Hold(t.Context(), "records"); !errors.Is(err, away) || merges.Held("records") {
		t.Errorf("held while ClickHouse is away: %v", err)
	}
	if !l.Optimize("records") {
		t.Fatal("the merges were started")
	}
	answer = nil
	if err := merges.Tell(t.Context()); err != nil || l.Optimize("records") {
		t.Errorf("the merges were not started later: %v", err)
	}
}
