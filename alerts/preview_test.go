package alerts_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// TestRehearseLikeTheModel: over the events that a rule is about, a rehearsal fires what the
// rule would have fired, had nothing been resolved or muted.
func TestRehearseLikeTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events, records := randomLog(t)
		for i := range events {
			events[i].muted, events[i].regressing = false, false
		}
		rule := randomRules(t)[0]
		rule.Enabled = true
		m := model{events: events, records: records}
		var about []seen // as a query finds them
		clock := int64(0)
		for i := range events {
			if m.about(&rule, &events[i]) {
				clock = max(clock, events[i].Received)
				events[i].Clock = clock
				about = append(about, events[i])
			}
		}
		want := (&model{events: about, records: records}).decide(alerts.Set{rule})
		got, err := alerts.Rehearse(rule, func(show func(*alerts.Past)) error {
			for _, e := range about {
				r := &records[e.record]
				e.Clock = 0
				show(&alerts.Past{Record: r.Key(), ID: r.ID, Project: r.Project, Number: e.number, Sighting: e.Sighting})
			}
			return nil
		})
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("rule %+v: %v (-want +got)\n%s", rule, err, diff)
		}
	})
}

func TestMessagesOfFirings(t *testing.T) {
	at := func(seconds ...int) (fired []alerts.Firing) {
		for _, s := range seconds {
			fired = append(fired, alerts.Firing{Clock: int64(s) * 1000})
		}
		return fired
	}
	for _, c := range []struct {
		seconds []int
		want    uint64
	}{
		{nil, 0},
		{[]int{1}, 1},
		{[]int{1, 1}, 1},
		{[]int{1, 2, 30, 61}, 2},      // at 1, and the others together at 61
		{[]int{1, 2, 62, 90, 121}, 3}, // at 1, 61 and 121
		{[]int{1, 200, 201, 500}, 4},  // at 1, 200, 260 and 500
	} {
		if got := alerts.Messages(at(c.seconds...), time.Minute); got != c.want {
			t.Errorf("%v: %d messages, want %d", c.seconds, got, c.want)
		}
	}
}

func TestDraftsNeedNoNameAndNoChannel(t *testing.T) {
	draft, err := alerts.RulePatch{When: errata.Sent(alerts.When{New: true})}.Draft()
	if err != nil || !draft.When.New {
		t.Errorf("%+v, %v", draft, err)
	}
	if _, err := (alerts.RulePatch{}).Draft(); errata.KindOf(err) != errata.KindInvalidAlert {
		t.Errorf("without a condition: %v", err)
	}
}
