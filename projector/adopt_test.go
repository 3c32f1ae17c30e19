package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// another has the tables of another node, which has folded all facts so far.
func (l *ledger) another() (conn driver.Conn) {
	l.t.Helper()
	name := l.Database + projector.TakenSuffix
	exec := func(statement string) {
		l.t.Helper()
		if err := l.ClickHouse.Exec(context.WithoutCancel(l.t.Context()), statement); err != nil {
			l.t.Fatalf("%s: %v", statement, err)
		}
	}
	exec("DROP DATABASE IF EXISTS `" + name + "` SYNC")
	exec("CREATE DATABASE `" + name + "`")
	conn, err := l.Connect(l.t.Context(), name)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			l.t.Error(err)
		}
		exec("DROP DATABASE IF EXISTS `" + name + "` SYNC")
	})
	p, err := projector.New(l.t.Context(), projector.Config{Log: l.log, ClickHouse: conn, Quiet: true})
	if err != nil {
		l.t.Fatal(err)
	}
	state, err := eventlog.Inspect(l.t.Context(), l.log)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := p.FoldTo(l.t.Context(), state.Last); err != nil {
		l.t.Fatal(err)
	}
	return conn
}

// A projector that lacks purged facts goes on with the tables of another node, which a replay
// can begin with as well.
func TestTablesOfAnotherNode(t *testing.T) {
	l := newLedger(t)
	l.append(event("a problem", "1"), event("another problem", "2"))
	made := l.another()
	state, err := eventlog.Inspect(t.Context(), l.log)
	if err != nil {
		t.Fatal(err)
	}
	l.append(event("a problem", "3"))
	if err := eventlog.Purge(t.Context(), l.log, state.Last+1); err != nil {
		t.Fatal(err)
	}
	cfg := l.config()
	cfg.Elsewhere = true
	p, err := projector.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.FoldTo(t.Context(), state.Last+1); !errors.Is(err, projector.ErrHistoryLost) {
		t.Fatalf("without the tables: %v", err)
	}
	l.run(p)
	to, err := p.Adopt(t.Context(), made)
	if err != nil || to.Sequence != state.Last {
		t.Fatalf("taken up to %d, want %d: %v", to.Sequence, state.Last, err)
	}
	l.append(event("a third problem", "4"))
	l.barrier()
	for problem, want := range map[string]uint64{"a problem": 2, "another problem": 1, "a third problem": 1} {
		if got := l.records()[problem].Count; got != want {
			t.Errorf("%s: count %d, want %d", problem, got, want)
		}
	}
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil || !comparison.Equal() {
		t.Errorf("a replay: %+v, %v", comparison, err)
	}
}

// Tables that are not those of the log, or not whole, change nothing.
func TestTablesThatAreNotTaken(t *testing.T) {
	// The rows of older checkpoints are there until they are merged.
	const latest = `(SELECT * FROM records WHERE book = 'checkpoint' AND signature = unhex(repeat('00', 16)) ORDER BY version DESC, sign DESC LIMIT 1)`
	for want, harm := range map[string]string{
		"no checkpoint":                    "TRUNCATE TABLE records",
		"another log":                      `INSERT INTO records SELECT * REPLACE (version + 1 AS version, replaceRegexpOne(checkpoint, '"log":[0-9]+', '"log":7') AS checkpoint) FROM ` + latest,
		"version 2 of the fold":            `INSERT INTO records SELECT * REPLACE (version + 1 AS version, replaceRegexpOne(checkpoint, '"fold":[0-9]+', '"fold":2') AS checkpoint) FROM ` + latest,
		"the table holds 1 that count 1":   "DELETE FROM records WHERE message_preview = 'a problem'",
		"stand at fact 9000, and the log ": `INSERT INTO records SELECT * REPLACE (9001 AS version, replaceRegexpOne(checkpoint, '"sequence":[0-9]+', '"sequence":9000') AS checkpoint) FROM ` + latest,
	} {
		t.Run(want, func(t *testing.T) {
			l := newLedger(t)
			p, _ := l.start()
			l.append(event("a problem", "1"), event("another problem", "2"))
			l.barrier()
			made := l.another()
			if err := made.Exec(t.Context(), harm); err != nil {
				t.Fatal(err)
			}
			if to, err := p.Adopt(t.Context(), made); !errors.Is(err, projector.ErrNotAdopted) || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("taken up to %d: %v; want an error with %q", to.Sequence, err, want)
			}
			l.append(event("a problem", "3"))
			l.barrier()
			if got := l.records(); got["a problem"].Count != 2 || got["another problem"].Count != 1 {
				t.Errorf("the records are %v", got)
			}
		})
	}
}
