package projector_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
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
	h := &activityHistory{firingHistory: firingHistory{ledger: l, random: rand.New(rand.NewPCG(seed, 2)), clock: begin}}
	_, h.stop = l.start()
	for step := range 100 {
		if step == 5 || step == 55 {
			l.setRules(projectRules(step == 55))
		}
		h.step()
	}
	h.end()
	l.barrier()
	h.stop()
	if h.rival != nil {
		h.rival()
	}
	t.Logf("taken back %d times", h.rewound)
	l.firesTheSameAtOnce("spike spike", "quiet quiet", "both quiet")
}

// activityHistory is a random life of a ledger whose projects are quiet, and loud.
type activityHistory struct {
	firingHistory
	rewound int
	rival   func() // stops a second projector, nil for none
}

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
	switch h.random.IntN(15) {
	case 0:
		h.barrier()
		h.stop()
		p, stop := h.start()
		h.stop = stop
		if h.rival == nil && h.random.IntN(2) == 0 { // what was counted is ahead of the records then, as after a death between them
			if _, err := p.Rewind(h.t.Context(), ""); err == nil {
				h.rewound++
			} else if !errors.Is(err, projector.ErrCannotRewind) {
				h.t.Fatal(err)
			}
		}
	case 1: // a second projector comes, or goes
		if h.rival != nil {
			h.rival()
			h.rival = nil
		} else {
			_, h.rival = h.start()
		}
	case 2:
		h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: some, Status: errata.Statuses[h.random.IntN(3)]})
	case 3:
		h.command(eventlog.CommandDelete, eventlog.Signatures{Signatures: some})
	case 4, 5:
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

// A rule knows the past: of the records that there are, that it is about, and that are not
// muted. What is deleted later changes nothing of it.
func TestARuleKnowsThePast(t *testing.T) {
	t.Cleanup(projector.SetRecordsTogether(1)) // of four
	l := newLedger(t)
	begin := time.Now().UTC().Add(-3 * 24 * time.Hour).Truncate(time.Hour)
	h := &activityHistory{firingHistory: firingHistory{ledger: l, random: rand.New(rand.NewPCG(1, 2)), clock: begin}}
	_, h.stop = l.start()
	hours := func(n int, problems ...int) {
		for range n {
			h.clock = h.clock.Add(time.Hour)
			for _, problem := range problems {
				for range 6 {
					h.append(h.event(problem))
				}
			}
		}
	}
	hours(30, 0, 2, 4, 6) // all of project 1
	h.append(h.event(1))  // project 2
	h.command(eventlog.CommandStatus, eventlog.StatusMove{Signatures: h.signature("problem 2"), Status: errata.StatusMuted})
	h.command(eventlog.CommandDelete, eventlog.Signatures{Signatures: h.signature("problem 4")})
	l.setRules(alerts.Set{
		{ID: "all", Enabled: true, When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 60}}},
		{ID: "search", Enabled: true, Search: "PROBLEM 6", When: alerts.When{Spike: &alerts.Spike{Factor: 2, Minutes: 60}}},
		{ID: "signature", Enabled: true, Signatures: h.signature("problem 0"), When: alerts.When{Spike: &alerts.Spike{Factor: 3, Minutes: 60}}},
		{ID: "quiet", Enabled: true, When: alerts.When{Quiet: &alerts.Quiet{Minutes: 60}}},
	})
	h.barrier()
	h.stop()
	_, h.stop = l.start()
	h.command(eventlog.CommandDelete, eventlog.Signatures{Signatures: h.signature("problem 0")})
	h.clock = h.clock.Add(time.Hour)
	for range 40 {
		h.append(h.event(0)) // a new record with the signature
	}
	h.append(h.event(2)) // it is muted, and counts nothing
	for range 20 {
		h.append(h.event(6))
	}
	h.tick()
	h.barrier()
	h.stop()
	var got []string
	for _, f := range l.firings() {
		got = append(got, fmt.Sprint(f.Rule, " ", f.Project, " ", f.Events, " ", f.Usual, " ", f.Minutes))
	}
	want := []string{"signature 1 18 6 60", "all 1 24 12 60", "search 1 12 6 60", "quiet 2 0 0 60"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// stopped is a ledger of projects 1 and 2 with rules for quiet ones, folded, whose projector
// is stopped.
func stopped(t *testing.T, rules alerts.Set) *activityHistory {
	t.Helper()
	l := newLedger(t)
	h := &activityHistory{firingHistory: firingHistory{ledger: l, random: rand.New(rand.NewPCG(1, 2)), clock: time.Now().UTC().Add(-2 * 24 * time.Hour).Truncate(time.Minute)}}
	if err := l.ClickHouse.Exec(t.Context(), "SYSTEM STOP MERGES records"); err != nil {
		t.Fatal(err)
	}
	_, h.stop = l.start()
	l.setRules(rules)
	h.append(h.event(0), h.event(1))
	h.barrier()
	h.stop()
	return h
}

// fold folds all that is on the log, and checks which projects were found quiet.
func (h *activityHistory) fold(what string, want ...string) {
	h.t.Helper()
	_, stop := h.start()
	h.barrier()
	stop()
	got := []string{}
	for _, f := range h.firings() {
		got = append(got, fmt.Sprint(f.Rule, " ", f.Project, " ", f.Minutes))
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		h.t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// A tick sees the events before it, and the rules of its place.
func TestTicksHaveAPlace(t *testing.T) {
	h := stopped(t, projectRules(false)[2:3])
	h.clock = h.clock.Add(100 * time.Minute)
	h.tick()
	h.clock = h.clock.Add(time.Minute)
	h.append(h.event(0), h.event(1))
	h.fold("events behind the tick", "quiet 1 100", "quiet 2 100")
	// While this command is committed, what comes behind it gets into one batch.
	if _, err := h.JetStream.Publish(t.Context(), h.log.Prefix+"cmd."+eventlog.CommandBarrier, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	h.clock = h.clock.Add(100 * time.Minute)
	h.tick()
	h.setRules(alerts.Set{})
	h.append(h.event(0))
	h.fold("rules behind the tick", "quiet 1 100", "quiet 2 100", "quiet 1 100", "quiet 2 100")
}

// A projector whose records are older than what was counted tells nobody again.
func TestQuietIsToldOnce(t *testing.T) {
	h := stopped(t, projectRules(false)[2:3])
	before := h.checkpoint(must(t, h.config()))
	h.clock = h.clock.Add(100 * time.Minute)
	h.tick()
	h.append(h.event(1))
	h.fold("a tick", "quiet 1 100", "quiet 2 100")
	p := must(t, h.config())
	for h.checkpoint(p).Sequence > before.Sequence {
		if _, err := p.Rewind(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	h.clock = h.clock.Add(10 * time.Minute)
	h.tick()
	h.fold("another tick", "quiet 1 100", "quiet 2 100")
}

func must(t *testing.T, cfg projector.Config) *projector.Projector {
	t.Helper()
	p, err := projector.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tick says how late it is, which changes no record.
func (h *history) tick() {
	h.t.Helper()
	if err := eventlog.AppendTick(h.t.Context(), h.log, eventlog.Tick{Minute: h.now.Unix()/60 + int64(h.random.IntN(100))}); err != nil {
		h.t.Fatal(err)
	}
}
