package projector_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// TestRulesAmongManyRecords: what rules of alerts must know of the past is read in little memory,
// however many records there are. A rule that could not be told would stop the fold.
func TestRulesAmongManyRecords(t *testing.T) {
	const records, memory = 100_000, 20 << 20
	t.Cleanup(projector.SetRecordsTogether(records / 10))
	l := newLedger(t)
	_, stop := l.start()
	received := time.Now().UTC().Truncate(time.Minute)
	for i := 0; i < records; i += 1000 {
		events := make([]errata.Event, 1000)
		for k := range events {
			events[k] = event(fmt.Sprint("problem ", i+k), fmt.Sprint(i+k))
			events[k].Received, events[k].Trail.UserHash = received, uint64(1+k)
		}
		l.append(events...)
	}
	l.barrier()
	stop()

	little, env := *l, *l.Env
	little.Env, env.ClickHouse = &env, l.OpenWithin(memory)
	l.setRules(alerts.Set{
		{ID: "often", Enabled: true, When: alerts.When{Frequency: &alerts.Frequency{Count: 2, Minutes: 60}}},
		{ID: "users", Enabled: true, When: alerts.When{Frequency: &alerts.Frequency{Count: 1, Users: 2, Minutes: 60}}},
		{ID: "spike", Enabled: true, When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 60}}},
		{ID: "quiet", Enabled: true, When: alerts.When{Quiet: &alerts.Quiet{Minutes: 60}}},
	})
	again := event("problem 7", "again")
	again.Received, again.Trail.UserHash = received.Add(time.Minute), 5000
	l.append(again)
	little.folded()
	got := map[string]int{}
	for _, f := range l.firings() {
		got[f.Rule]++
	}
	if len(got) != 2 || got["often"] != 1 || got["users"] != 1 {
		t.Errorf("fired %v, want often and users once", got)
	}
	var counted uint64
	if err := l.ClickHouse.QueryRow(t.Context(), "SELECT sum(count) FROM activity WHERE book = 'spike'").Scan(&counted); err != nil || counted != records+1 {
		t.Errorf("%d events are counted of the project, error %v, want %d", counted, err, records+1)
	}
}

// TestCommandOverManyRecords: a command over a filter does not fill the memory with the records that
// it changes (8 M records took 6 GB, until the process ended), and the status tells each of its
// steps. (A service counted as one that is not ready after 30 s of such a command.)
func TestCommandOverManyRecords(t *testing.T) {
	const records, most = 60_000, 16 << 20
	l := newLedger(t)
	l.appendMany(records)
	l.folded() // by a projector that has ended
	var p *projector.Projector
	told := map[uint64]bool{}
	conn := &observedInserts{Conn: l.ClickHouse, waits: func() bool {
		s := p.Status()
		if s.Working {
			told[s.Checkpoint.Row] = true
		}
		return s.Working
	}}
	cfg := l.config()
	cfg.ClickHouse = conn
	p = must(t, cfg)
	l.run(p)
	l.barrier()
	conn.inserts()
	before := heapAlive()
	changed, err := l.commander.MoveMatching(t.Context(), nil, []byte(`{"types":"system,database"}`), errata.StatusMuted)
	if err != nil || changed.Total() != records {
		t.Fatalf("%d records changed, error %v, want %d", changed.Total(), err, records)
	}
	if after := heapAlive(); after > before+most {
		t.Errorf("%d MB live before the command and %d MB after it, want at most %d MB more", before>>20, after>>20, most>>20)
	}
	saw := conn.inserts()
	l.barrier() // the answer may come before the end of the command
	if len(saw) < 4 || len(told) != len(saw) || slices.Contains(saw, false) || p.Status().Working {
		t.Errorf("%d inserts of the command, of which the status told %d rows; a command was under way: %v, and afterwards %v", len(saw), len(told), saw, p.Status().Working)
	}
}

// appendMany appends an event of each of so many problems, a multiple of 1,000.
func (l *ledger) appendMany(problems int) {
	for i := 0; i < problems; i += 1000 {
		events := make([]errata.Event, 1000)
		for k := range events {
			events[k] = event(fmt.Sprint("problem ", i+k), fmt.Sprint(i+k))
		}
		l.append(events...)
	}
}

// heapAlive is what lives on the heap, in bytes.
func heapAlive() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestPresentAmongManyRecords: a start learns which records exist in little memory, however many
// there are. With 8 M records the keys did not fit into an engine of 512 MB, and a service that was
// started again folded nothing any more.
func TestPresentAmongManyRecords(t *testing.T) {
	const records, memory = 500_000, 10 << 20
	t.Cleanup(projector.SetRecordsTogether(records / 10))
	env := testenv.New(t)
	insert := `INSERT INTO records (book, signature, id, version, count, sign)
		SELECT if(number % 3 = 0, 'database', 'system'), MD5(toString(number)), 1 + number, 1 + number, 1, 1 FROM numbers(500000)`
	if err := env.ClickHouse.Exec(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	known, err := projector.NewStore(env.OpenWithin(memory), 0).Present(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if known != records {
		t.Errorf("%d records are known, want %d", known, records)
	}
}
