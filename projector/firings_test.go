package projector_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

// fired is a row of firings.
type fired struct {
	Position    uint64
	Rule, Cause string
	Clock       time.Time
	Number      uint64
	Environment string

	Project, Events, Usual, Minutes uint64
}

func (l *ledger) firings() (all []fired) {
	l.t.Helper()
	rows, err := l.ClickHouse.Query(l.t.Context(), "SELECT position, rule, cause, clock, number, environment, project, events, usual, minutes FROM firings FINAL WHERE book != 'checkpoint' ORDER BY position, rule, cause")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var f fired
		if err := rows.Scan(&f.Position, &f.Rule, &f.Cause, &f.Clock, &f.Number, &f.Environment, &f.Project, &f.Events, &f.Usual, &f.Minutes); err != nil {
			l.t.Fatal(err)
		}
		all = append(all, f)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return all
}

// setRules puts rules on the log.
func (l *ledger) setRules(rules alerts.Set) {
	l.t.Helper()
	data, err := json.Marshal(map[string]any{"v": 1, "before": nil, "after": rules})
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.log.JetStream.PublishMsg(l.t.Context(), &nats.Msg{Subject: migrations.SubjectPrefix(l.Namespace) + "set.alerts.rules", Data: data}); err != nil {
		l.t.Fatal(err)
	}
}

// alertRules are rules with each cause; the second half of a test has other ones.
func alertRules(late bool) alerts.Set {
	rules := alerts.Set{
		{ID: "first", Enabled: true, When: alerts.When{New: true, Regressed: true}},
		{ID: "third", Enabled: true, Environments: []string{"prod"}, When: alerts.When{Reached: &alerts.Reached{Count: 3}}},
		{ID: "often", Enabled: true, ThrottleMinutes: 4, When: alerts.When{Frequency: &alerts.Frequency{Count: 5, Minutes: 6}}},
		{ID: "users", Enabled: true, Search: "PROBLEM 1", When: alerts.When{Frequency: &alerts.Frequency{Count: 2, Users: 2, Minutes: 9}}},
	}
	if late {
		rules[2].When.Frequency.Minutes = 3
		rules[3].Levels = []string{"error"}
	}
	return rules
}

// TestFiringsAreAFunctionOfTheLog: a projector that is stopped all the time and sees the log
// as it grows fires what one fires that folds all of it at once, without rules from before.
func TestFiringsAreAFunctionOfTheLog(t *testing.T) {
	t.Cleanup(projector.SetRecordsTogether(1)) // of four
	l := newLedger(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	h := &firingHistory{ledger: l, random: rand.New(rand.NewPCG(seed, 2)), clock: time.UnixMilli(1_795_231_120_683).UTC()}
	_, h.stop = l.start()
	for step := range 120 {
		if step == 5 || step == 60 {
			l.setRules(alertRules(step == 60))
		}
		h.step()
	}
	h.end()
	l.barrier()
	h.stop()
	grown := l.firesTheSameAtOnce("first new", "first regressed", "third reached", "often frequency", "users frequency")
	l.folded() // what was folded already fires nothing
	if again := l.firings(); len(again) != grown {
		t.Errorf("%d firings after another start, want %d", len(again), grown)
	}
}

// firesTheSameAtOnce compares what has fired, and how often, as the log grew with what fires
// when all of it is folded at once. Each of the causes must be among it.
func (l *ledger) firesTheSameAtOnce(causes ...string) (fired int) {
	l.t.Helper()
	grown, seen := l.firings(), map[string]int{}
	for _, f := range grown {
		seen[f.Rule+" "+f.Cause]++
	}
	l.t.Logf("fired %v", seen)
	for _, cause := range causes {
		if seen[cause] == 0 {
			l.t.Errorf("%s has not fired: %v", cause, seen)
		}
	}
	l.forgetAll()
	l.folded()
	if diff := cmp.Diff(grown, l.firings()); diff != "" {
		l.t.Errorf("(-as the log grew +at once)\n%s", diff)
	}
	return len(grown)
}

// folded runs a projector until it has folded the whole log.
func (l *ledger) folded() {
	l.t.Helper()
	_, stop := l.start()
	l.barrier()
	stop()
}

// firingHistory is a random life of a ledger with rules.
type firingHistory struct {
	*ledger
	random *rand.Rand
	clock  time.Time
	sent   int
	stop   func()
}

func (h *firingHistory) command(name string, body any) {
	h.t.Helper()
	if _, err := h.commander.Do(h.t.Context(), name, body); err != nil {
		h.t.Fatal(err)
	}
}

func (h *firingHistory) signature(message string) []string {
	return []string{event(message, "").Signature.String()}
}

// step restarts the projector, changes a record or appends events.
func (h *firingHistory) step() {
	some := h.signature(fmt.Sprint("problem ", h.random.IntN(4)))
	switch h.random.IntN(12) {
	case 0:
		h.barrier()
		h.stop()
		_, h.stop = h.start()
	case 1:
		h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: some, Status: errata.Statuses[h.random.IntN(3)]})
	case 2:
		h.command(eventlog.CommandDelete, eventlog.Signatures{Signatures: some})
	default:
		var events []errata.Event
		for range 1 + h.random.IntN(5) {
			e := event(fmt.Sprint("problem ", h.random.IntN(4)), fmt.Sprint(h.sent))
			h.clock = h.clock.Add(time.Duration(h.random.IntN(40)) * time.Second)
			e.Received = h.clock.Add(-time.Duration(h.random.IntN(100)) * time.Second)
			e.Environment = []string{"prod", "qa"}[h.random.IntN(2)]
			e.Level = []errata.Level{errata.LevelError, errata.LevelWarning}[h.random.IntN(2)]
			e.Trail.UserHash = uint64(h.random.IntN(4))
			events, h.sent = append(events, e), h.sent+1
		}
		h.append(events...)
	}
}

// end makes sure that each cause is there.
func (h *firingHistory) end() {
	h.setRules(alertRules(false))
	const message = "problem 1 of the end"
	for i := range 5 {
		if i == 4 {
			h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: h.signature(message), Status: errata.StatusResolved})
		}
		e := event(message, fmt.Sprint("end", i))
		e.Received, e.Environment, e.Trail.UserHash = h.clock, "prod", uint64(i)
		h.append(e)
	}
}

// forgetAll empties the tables, as if they were lost.
func (l *ledger) forgetAll() {
	l.t.Helper()
	rows, err := l.ClickHouse.Query(l.t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, table := range names(l.t, rows) {
		if err := l.ClickHouse.Exec(l.t.Context(), "TRUNCATE TABLE "+table); err != nil {
			l.t.Fatal(err)
		}
	}
}

func names(t testing.TB, rows driver.Rows) (all []string) {
	t.Helper()
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
