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
)

// fired is a row of firings.
type fired struct {
	Position    uint64
	Rule, Cause string
	Clock       time.Time
	Number      uint64
	Environment string
}

func (l *ledger) firings() (all []fired) {
	l.t.Helper()
	rows, err := l.ClickHouse.Query(l.t.Context(), "SELECT position, rule, cause, clock, number, environment FROM firings FINAL WHERE book != 'checkpoint' ORDER BY position, rule, cause")
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var f fired
		if err := rows.Scan(&f.Position, &f.Rule, &f.Cause, &f.Clock, &f.Number, &f.Environment); err != nil {
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
	l := newLedger(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	clock := time.UnixMilli(1_795_231_120_683).UTC()
	signature := func(n int) string { return event(fmt.Sprint("problem ", n), "").Signature.String() }
	_, stop := l.start()
	sent := 0
	for step := range 120 {
		switch n := random.IntN(12); {
		case step == 5 || step == 60:
			l.setRules(alertRules(step == 60))
		case n == 0:
			l.barrier()
			stop()
			_, stop = l.start()
		case n == 1:
			body := eventlog.StatusMove{Signatures: []string{signature(random.IntN(4))}, Status: errata.Statuses[random.IntN(3)]}
			if _, err := l.commander.Do(t.Context(), eventlog.CommandStatus, body); err != nil {
				t.Fatal(err)
			}
		case n == 2:
			if _, err := l.commander.Do(t.Context(), eventlog.CommandDelete, eventlog.Signatures{Signatures: []string{signature(random.IntN(4))}}); err != nil {
				t.Fatal(err)
			}
		default:
			var events []errata.Event
			for range 1 + random.IntN(5) {
				e := event(fmt.Sprint("problem ", random.IntN(4)), fmt.Sprint(sent))
				clock = clock.Add(time.Duration(random.IntN(40)) * time.Second)
				e.Received = clock.Add(-time.Duration(random.IntN(100)) * time.Second)
				e.Environment = []string{"prod", "qa"}[random.IntN(2)]
				e.Level = []errata.Level{errata.LevelError, errata.LevelWarning}[random.IntN(2)]
				e.Trail.UserHash = uint64(random.IntN(4))
				events, sent = append(events, e), sent+1
			}
			l.append(events...)
		}
	}
	l.setRules(alertRules(false))
	for i := range 4 { // so that each cause is there
		e := event("problem 1 of the end", fmt.Sprint("end", i))
		e.Received, e.Environment, e.Trail.UserHash = clock, "prod", uint64(i)
		l.append(e)
	}
	end := eventlog.StatusMove{Signatures: []string{event("problem 1 of the end", "").Signature.String()}, Status: errata.StatusResolved}
	if _, err := l.commander.Do(t.Context(), eventlog.CommandStatus, end); err != nil {
		t.Fatal(err)
	}
	last := event("problem 1 of the end", "last")
	last.Received = clock
	l.append(last)
	l.barrier()
	stop()
	grown := l.firings()
	causes := map[string]int{}
	for _, f := range grown {
		causes[f.Rule+" "+f.Cause]++
	}
	for _, cause := range []string{"first new", "first regressed", "third reached", "often frequency", "users frequency"} {
		if causes[cause] == 0 {
			t.Errorf("%s has not fired: %v", cause, causes)
		}
	}
	l.forgetAll()
	_, stop = l.start()
	l.barrier()
	stop()
	if diff := cmp.Diff(grown, l.firings()); diff != "" {
		t.Errorf("(-as the log grew +at once)\n%s", diff)
	}
	_, stop = l.start() // what was folded already fires nothing
	l.barrier()
	stop()
	if again := l.firings(); len(again) != len(grown) {
		t.Errorf("%d firings after another start, want %d", len(again), len(grown))
	}
}

// forgetAll empties the tables, as if they were lost.
func (l *ledger) forgetAll() {
	l.t.Helper()
	var tables []string
	rows, err := l.ClickHouse.Query(l.t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'")
	if err != nil {
		l.t.Fatal(err)
	}
	tables = names(l.t, rows)
	for _, table := range tables {
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
