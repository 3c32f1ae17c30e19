package projector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// worse are three events of each of some problems, the first with the level info,
// the second with the level fatal.
func (l *ledger) worse(problems int, run string) {
	l.t.Helper()
	for n := range problems {
		for _, level := range []errata.Level{errata.LevelInfo, errata.LevelFatal, errata.LevelError} {
			ev := event(fmt.Sprint("problem ", n), fmt.Sprint(run, n, level))
			ev.Level = level
			l.append(ev)
		}
	}
	l.barrier()
}

// levels counts the records by their level.
func (l *ledger) levels() map[string]uint64 {
	l.t.Helper()
	got := map[string]uint64{}
	rows, err := l.ClickHouse.Query(l.t.Context(), "SELECT toString(level), count() FROM records FINAL WHERE book > 'checkpoint' GROUP BY level")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var level string
		var n uint64
		if err := rows.Scan(&level, &n); err != nil {
			l.t.Fatal(err)
		}
		got[level] = n
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return got
}

func (l *ledger) wantLevels(want map[string]uint64) {
	l.t.Helper()
	if got := l.levels(); fmt.Sprint(got) != fmt.Sprint(want) {
		l.t.Errorf("levels %v, want %v", got, want)
	}
}

// asOlder makes the records those of an older version.
func (l *ledger) asOlder(fold int) {
	l.t.Helper()
	if err := testenv.AsOlderVersion(l.t.Context(), l.ClickHouse, fold, "info"); err != nil {
		l.t.Fatal(err)
	}
}

// TestReplayAfterAnOlderVersion: records of an older version have the level of their
// first event. They rise with the next event, and a replay makes all of them right
// without force. The replay after that compares the levels too.
func TestReplayAfterAnOlderVersion(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	l.worse(5, "first")
	stop()
	if cp := l.checkpoint(p); cp.Fold != projector.FoldVersion || cp.Outdated() {
		t.Errorf("a new projection has %+v", cp)
	}
	l.asOlder(0)
	l.wantLevels(map[string]uint64{"info": 5})

	_, stop = l.start()
	l.worse(2, "then")
	stop()
	l.wantLevels(map[string]uint64{"fatal": 2, "info": 3})
	if cp := l.checkpoint(p); !cp.Outdated() {
		t.Errorf("the records of the older version are forgotten: %+v", cp)
	}

	if done := l.rebuilt(p); !done.Equal() || !done.Swapped || !done.Outdated || done.Live.Records != 5 {
		t.Errorf("the first replay: %+v", done)
	}
	l.wantLevels(map[string]uint64{"fatal": 5})
	if cp := l.checkpoint(p); cp.Outdated() {
		t.Errorf("still outdated: %+v", cp)
	}
	if done := l.rebuilt(p); !done.Equal() || done.Outdated {
		t.Errorf("the second replay: %+v", done)
	}
	if err := l.ClickHouse.Exec(t.Context(), "ALTER TABLE records UPDATE level = 'error' WHERE book > 'checkpoint' SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	if done := l.rebuilt(p); done.Equal() || done.Swapped {
		t.Errorf("other levels in the table are not seen: %+v", done)
	}
}

// TestReplayAfterAnOlderVersionStillCompares: what an older version has seen as this
// one does must be the same.
func TestReplayAfterAnOlderVersionStillCompares(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	l.worse(3, "first")
	stop()
	l.asOlder(0)
	if err := l.ClickHouse.Exec(t.Context(), "ALTER TABLE records UPDATE file = 'other.go' WHERE book > 'checkpoint' SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	done, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
	if err != nil || done.Equal() || done.Swapped || !done.Outdated {
		t.Errorf("%+v, %v, want a difference", done, err)
	}
}

// TestReplayFromASnapshotOfAnOlderVersion: a replay that begins at such a snapshot
// gives the same records each time, and they are no longer outdated.
func TestReplayFromASnapshotOfAnOlderVersion(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	l.worse(5, "first")
	stop()
	l.asOlder(0)
	p, stop := l.start()
	l.snapshot()
	l.worse(2, "then")
	stop()
	for _, outdated := range []bool{true, false} {
		done, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
		if err != nil || !done.Equal() || !done.Swapped || done.Outdated != outdated || done.From == 1 {
			t.Errorf("%+v, %v, want the same from the snapshot on, outdated %t", done, err, outdated)
		}
		l.wantLevels(map[string]uint64{"fatal": 2, "info": 3}) // the log has no other events of the three
		if cp := l.checkpoint(p); cp.Outdated() {
			t.Errorf("still outdated: %+v", cp)
		}
	}
}

// deployed sums up the deployments of the records, and the events that the
// checkpoint says are in the table.
func (l *ledger) deployed(p *projector.Projector) string {
	l.t.Helper()
	var records string
	if err := l.ClickHouse.QueryRow(l.t.Context(), `SELECT concat(
		(SELECT toString(arraySort(groupArray((project, environments, releases)))) FROM records FINAL WHERE book > 'checkpoint'), ' ',
		(SELECT toString(arraySort(groupArray((project, environment, release, count)))) FROM deployments FINAL WHERE book > 'checkpoint'), ' ',
		(SELECT toString(arraySort(groupUniqArray(project))) FROM hourly FINAL WHERE book > 'checkpoint'))`).Scan(&records); err != nil {
		l.t.Fatal(err)
	}
	counted, err := p.Store().RollupCounted(l.t.Context(), projector.RollupDeployments)
	if err != nil {
		l.t.Fatal(err)
	}
	if cp := l.checkpoint(p); cp.InRollup(projector.RollupDeployments) != counted {
		l.t.Errorf("deployments has counted %d events, and the checkpoint is %+v", counted, cp)
	}
	return records
}

// TestDeploymentsAfterAnOlderVersion: a record of a version without deployments gets
// project, environment and release with its next event, a replay gives it those of
// all, and the replay after that compares them.
func TestDeploymentsAfterAnOlderVersion(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	send := func(id, environment, release string) {
		ev := event("a problem", id)
		ev.Project, ev.Environment, ev.Release = 7, environment, release
		l.append(ev)
	}
	send("1", "prod", "1.0")
	send("2", "qa", "1.1")
	l.barrier()
	stop()
	l.asOlder(1)
	if got, want := l.deployed(p), "[(0,[],[])] [] [0]"; got != want {
		t.Errorf("an older version has %s, want %s", got, want)
	}
	_, stop = l.start()
	send("3", "prod", "1.1")
	l.barrier()
	stop()
	if got, want := l.deployed(p), "[(7,['prod'],['1.1'])] [(7,'prod','1.1',1)]"; !strings.HasPrefix(got, want) {
		t.Errorf("after the next event there is %s, want %s", got, want)
	}
	if done := l.rebuilt(p); !done.Equal() || !done.Swapped || !done.Outdated {
		t.Errorf("the first replay: %+v", done)
	}
	const all = "[(7,['prod','qa'],['1.1','1.0'])] [(7,'prod','1.0',1),(7,'prod','1.1',1),(7,'qa','1.1',1)] [7]"
	if got := l.deployed(p); got != all {
		t.Errorf("after a replay there is %s, want %s", got, all)
	}
	if done := l.rebuilt(p); !done.Equal() || done.Outdated || done.Live.Deployed != 3 {
		t.Errorf("the second replay: %+v", done)
	}
	if err := l.ClickHouse.Exec(t.Context(), "INSERT INTO deployments (book, signature, environment, count) VALUES ('system', '', 'x', 1)"); err != nil {
		t.Fatal(err)
	}
	if done := l.rebuilt(p); done.Equal() || done.Swapped {
		t.Errorf("another row in the table is not seen: %+v", done)
	}
}
