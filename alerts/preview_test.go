package alerts_test

import (
	"slices"
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

// TestRehearseProjectsLikeTheModel: a spike is a period with enough events, and a quiet time
// a gap between minutes with events.
func TestRehearseProjectsLikeTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := int64(1_795_231_140 / 60)
		to := begin + 14*24*60
		var minutes []alerts.PastMinute
		for minute := begin + rapid.Int64Range(0, 3000).Draw(t, "first"); minute <= to; minute += rapid.Int64Range(1, 2000).Draw(t, "gap") {
			for project := range uint64(2) {
				if rapid.IntRange(0, 3).Draw(t, "sends") > 0 {
					loud := rapid.Uint64Range(0, 60).Draw(t, "loud")
					minutes = append(minutes, alerts.PastMinute{Minute: minute, Project: project + 1, Loud: loud, Events: loud + rapid.Uint64Range(0, 2).Draw(t, "muted") + 1})
				}
			}
		}
		spike := alerts.Spike{Factor: rapid.IntRange(2, 4).Draw(t, "factor"), Minutes: rapid.SampledFrom([]int{60, 720, 1440}).Draw(t, "period")}
		quiet := alerts.Quiet{Minutes: rapid.IntRange(5, 3000).Draw(t, "quiet")}
		got := map[alerts.Cause]map[uint64][]int64{alerts.CauseSpike: {}, alerts.CauseQuiet: {}}
		for _, f := range alerts.RehearseProjects(alerts.Rule{ID: "r", Books: []string{"database"}, When: alerts.When{Spike: &spike, Quiet: &quiet}}, to, minutes) {
			at := f.Clock / minuteMillis
			if f.Cause == alerts.CauseSpike {
				at /= int64(spike.Minutes)
			}
			got[f.Cause][f.Project] = append(got[f.Cause][f.Project], at)
		}
		want := map[alerts.Cause]map[uint64][]int64{alerts.CauseSpike: {}, alerts.CauseQuiet: {}}
		for project := uint64(1); project <= 2; project++ {
			var own []alerts.PastMinute
			for _, m := range minutes {
				if m.Project == project {
					own = append(own, m)
				}
			}
			if list := spikesOf(own, spike); len(list) > 0 {
				want[alerts.CauseSpike][project] = list
			}
			if list := quietOf(own, quiet, to); len(list) > 0 {
				want[alerts.CauseQuiet][project] = list
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("spike %+v, quiet %+v (-want +got)\n%s", spike, quiet, diff)
		}
	})
}

// spikesOf are the periods of a project that are spikes.
func spikesOf(minutes []alerts.PastMinute, s alerts.Spike) (at []int64) {
	events := map[int64]uint64{}
	var order []int64
	for _, m := range minutes {
		if m.Loud == 0 {
			continue
		}
		period := m.Minute / int64(s.Minutes)
		if events[period] == 0 {
			order = append(order, period)
		}
		events[period] += m.Loud
	}
	week := int64(7 * 24 * 60 / s.Minutes)
	for _, period := range order {
		first := period
		for _, other := range order {
			if other >= period-week {
				first = other
				break
			}
		}
		var counts []uint64 // of the whole periods of a week, from the first that is known
		for p := first; p < period; p++ {
			counts = append(counts, events[p])
		}
		if len(counts)*s.Minutes < 24*60 {
			continue
		}
		slices.Sort(counts)
		if events[period] >= max(counts[len(counts)/2]*uint64(s.Factor), alerts.MinSpike) {
			at = append(at, period)
		}
	}
	return at
}

// quietOf are the minutes at which a project has sent nothing for long enough.
func quietOf(minutes []alerts.PastMinute, q alerts.Quiet, to int64) (at []int64) {
	for i, m := range minutes {
		next := to + 1
		if i+1 < len(minutes) {
			next = minutes[i+1].Minute
		}
		// The look of a minute comes before its events.
		if told := m.Minute + int64(q.Minutes); told < next || told == next && i+1 < len(minutes) {
			at = append(at, told)
		}
	}
	return at
}
