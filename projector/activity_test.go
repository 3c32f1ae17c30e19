package projector_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// projectRules are rules about projects; in the second half of a test two of them count
// something else, and one goes on.
func projectRules(late bool) alerts.Set {
	rules := alerts.Set{
		{ID: "spike", Enabled: true, Counting: "spike1", When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 60}}},
		{ID: "search", Enabled: true, Counting: "search1", Search: "Problem 1", ThrottleMinutes: 100, When: alerts.When{Spike: &alerts.Spike{Factor: 3, Minutes: 90}}},
		{ID: "quiet", Enabled: true, Counting: "quiet1", When: alerts.When{Quiet: &alerts.Quiet{Minutes: 90}}},
		{ID: "both", Enabled: true, Environments: []string{"prod"}, When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 300}, Quiet: &alerts.Quiet{Minutes: 30}}},
	}
	if late {
		rules[0].Counting, rules[0].When.Spike = "spike2", &alerts.Spike{Factor: 3, Minutes: 120}
		rules[2].Counting, rules[2].Levels = "quiet2", []string{"error"}
		rules[3].ThrottleMinutes = 200
	}
	return rules
}

// TestProjectsFireAsAFunctionOfTheLog is TestFiringsAreAFunctionOfTheLog for what rules count
// of projects: over a week, with rules that begin to count in the middle of it.
func TestProjectsFireAsAFunctionOfTheLog(t *testing.T) {
	l := newLedger(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	begin := time.Now().UTC().Add(-8 * 24 * time.Hour).Truncate(time.Minute) // old counts are dropped in the background
	h := &activityHistory{firingHistory{ledger: l, random: rand.New(rand.NewPCG(seed, 2)), clock: begin}}
	_, h.stop = l.start()
	for step := range 150 {
		if step == 5 || step == 80 {
			l.setRules(projectRules(step == 80))
		}
		h.step()
	}
	h.end()
	l.barrier()
	h.stop()
	grown, causes := l.firings(), map[string]int{}
	for _, f := range grown {
		causes[f.Rule+" "+f.Cause]++
	}
	t.Logf("fired %v", causes)
	for _, cause := range []string{"spike spike", "quiet quiet", "both quiet"} {
		if causes[cause] == 0 {
			t.Errorf("%s has not fired: %v", cause, causes)
		}
	}
	l.forgetAll()
	_, stop := l.start()
	l.barrier()
	stop()
	if diff := cmp.Diff(grown, l.firings()); diff != "" {
		t.Errorf("(-as the log grew +at once)\n%s", diff)
	}
}

// activityHistory is a random life of a ledger whose projects are quiet, and loud.
type activityHistory struct{ firingHistory }

// event is one of two projects.
func (h *activityHistory) event(problem int) errata.Event {
	e := event(fmt.Sprint("problem ", problem), fmt.Sprint(h.sent))
	if problem%2 == 1 {
		e.Project = 2
	}
	e.Received, e.Environment = h.clock, []string{"prod", "qa"}[h.random.IntN(2)]
	e.Level = []errata.Level{errata.LevelError, errata.LevelWarning}[h.random.IntN(2)]
	h.sent++
	return e
}

func (h *activityHistory) tick() {
	h.t.Helper()
	minute := h.clock.Unix() / 60
	if err := eventlog.AppendTick(h.t.Context(), h.log, eventlog.Tick{Minute: minute, Since: minute - 30*24*60}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *activityHistory) step() {
	some := h.signature(fmt.Sprint("problem ", h.random.IntN(4)))
	switch h.random.IntN(14) {
	case 0:
		h.barrier()
		h.stop()
		_, h.stop = h.start()
	case 1:
		h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: some, Status: errata.Statuses[h.random.IntN(3)]})
	case 2:
		h.command(eventlog.CommandDelete, eventlog.Signatures{Signatures: some})
	case 3, 4:
		h.clock = h.clock.Add(time.Duration(h.random.IntN(200)) * time.Minute)
		h.tick()
	default:
		h.clock = h.clock.Add(time.Duration(h.random.IntN(120)) * time.Minute)
		var events []errata.Event
		for range 1 + h.random.IntN(4)*h.random.IntN(7) {
			events = append(events, h.event(h.random.IntN(4)))
		}
		h.append(events...)
	}
}

// end makes sure that each cause is there.
func (h *activityHistory) end() {
	h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: h.signature("problem 0"), Status: errata.StatusOpen})
	for range 30 {
		h.clock = h.clock.Add(time.Hour)
		h.append(h.event(0))
	}
	h.clock = h.clock.Add(2 * time.Hour)
	for range 10 {
		events := make([]errata.Event, 40)
		for i := range events {
			events[i] = h.event(0)
		}
		h.append(events...)
	}
	h.clock = h.clock.Add(5 * time.Hour)
	h.tick()
	h.tick() // the log takes one of them
}
