package ingest_test

import (
	"maps"
	"net/netip"
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/projects"
)

// under is a pipeline whose project 7 has the rules.
func under(t *testing.T, log ingest.Log, rules *[]projects.Rule, registry prometheus.Registerer) (*ingest.Pipeline, map[uint64]int) {
	t.Helper()
	dropped := map[uint64]int{}
	p, err := ingest.New(ingest.Config{Log: log, Random: seeded(), Registerer: registry, Noise: &ingest.Noise{
		Rules: func(project uint64) []projects.Rule {
			if project != 7 {
				return nil
			}
			return *rules
		},
		Dropped: func(project uint64, events int) { dropped[project] += events },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p, dropped
}

// TestNoiseRulesAtTheDoor: an event on the log holds what the rules decided, and one that
// they drop is not on it. A change counts from the next request on.
func TestNoiseRulesAtTheDoor(t *testing.T) {
	log, registry := &memoryLog{}, prometheus.NewRegistry()
	rules := []projects.Rule{
		{Field: "class", Match: "Drop*Me", Action: "drop"}, {Field: "class", Match: "muteme", Action: "mute"}, {Field: "class", Match: "me", Action: "noise"},
	}
	p, dropped := under(t, log, &rules, registry)
	send := func(project uint64, classes ...string) ingest.Receipt {
		t.Helper()
		var drafts []ingest.Draft
		for _, class := range classes {
			drafts = append(drafts, ingest.Draft{Class: class, NoTime: true, Context: ingest.Context{Source: "native"}})
		}
		receipt, err := p.Accept(t.Context(), ingest.Source{Project: project, Received: received}, drafts)
		if err != nil {
			t.Fatal(err)
		}
		return receipt
	}
	receipt := send(7, "DropThisMe", "MuteMe", "", "Other", "TimeError", "DropMe")
	if receipt.Accepted != 3 || receipt.Noise != 2 || len(receipt.Rejected) != 1 || receipt.Rejected[0].Index != 2 || len(receipt.Adjusted) != 3 || receipt.Adjusted[2].Index != 4 {
		t.Errorf("%+v", receipt)
	}
	send(8, "DropMe")
	rules = []projects.Rule{{Field: "class", Match: "DropMe", Action: "mute"}}
	send(7, "DropMe")
	rules = nil
	send(7, "DropMe")
	type marks struct {
		class       string
		mute, noise bool
	}
	var got []marks
	for _, e := range log.events {
		got = append(got, marks{e.Class, e.Mute, e.Noise})
	}
	want := []marks{{"MuteMe", true, true}, {"Other", false, false}, {"TimeError", false, true}, {"DropMe", false, false}, {"DropMe", true, false}, {"DropMe", false, false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("on the log: %+v, want %+v", got, want)
	}
	if !maps.Equal(dropped, map[uint64]int{7: 2}) {
		t.Errorf("dropped: %v", dropped)
	}
	if n := counters(t, registry)["errata_events_accepted_total native"]; n != 6 {
		t.Errorf("%v events are counted as accepted", n)
	}
}

// TestWhatNoiseRulesSee: each field as the record shows it, without its secrets; the file
// also as it was sent.
func TestWhatNoiseRulesSee(t *testing.T) {
	draft := ingest.Draft{
		Class: "E", Message: "first line\nsecond line, password=hunter2secret", File: "chrome-extension://abc/inject.js", Line: 3,
		IP: netip.MustParseAddr("10.1.2.3"),
		Context: ingest.Context{
			Release: "shop@2", Logger: "app.cart",
			Headers: []ingest.Pair{{Key: "X-Other", Value: "curl"}, {Key: "user-agent", Value: "Probe/1.0"}},
		},
	}
	for _, c := range []struct {
		field, match string
		want         bool
	}{
		{"message", "second line", true}, // the whole message
		{"message", "hunter2secret", false},
		{"file", "chrome-extension://", true},
		{"file", "inject.js", true},
		{"user_agent", "probe/", true},
		{"user_agent", "curl", false},
		{"release", "shop@2", true},
		{"logger", "app.cart", true},
		{"ip", "10.1.0.0/16", true},
	} {
		log, rules := &memoryLog{}, []projects.Rule{{Field: c.field, Match: c.match, Action: "noise"}}
		p, _ := under(t, log, &rules, nil)
		if _, err := p.Accept(t.Context(), ingest.Source{Project: 7, Received: received}, []ingest.Draft{draft}); err != nil {
			t.Fatal(err)
		}
		if len(log.events) != 1 || log.events[0].Noise != c.want {
			t.Errorf("%s %q: %v, want %v", c.field, c.match, log.events, c.want)
		}
	}
}

// TestADroppedEventOfAFailedCall: when the log fails, the sender sends all again, and
// what was dropped is counted then.
func TestADroppedEventOfAFailedCall(t *testing.T) {
	log := &memoryLog{err: errata.Errorf(errata.KindLogUnavailable, "away")}
	rules := []projects.Rule{{Field: "class", Match: "DropMe", Action: "drop"}}
	p, dropped := under(t, log, &rules, nil)
	drafts := []ingest.Draft{{Class: "DropMe"}, {Class: "Other"}}
	if _, err := p.Accept(t.Context(), ingest.Source{Project: 7, Received: received}, drafts); err == nil || len(dropped) != 0 {
		t.Errorf("%v, dropped %v", err, dropped)
	}
	log.err = nil
	if receipt, err := p.Accept(t.Context(), ingest.Source{Project: 7, Received: received}, drafts); err != nil || receipt.Noise != 1 || dropped[7] != 1 {
		t.Errorf("%+v, %v, dropped %v", receipt, err, dropped)
	}
	log.err = errata.Errorf(errata.KindLogUnavailable, "away")
	if receipt, err := p.Accept(t.Context(), ingest.Source{Project: 7, Received: received}, drafts[:1]); err != nil || receipt.Noise != 1 {
		t.Errorf("nothing goes to the log: %+v, %v", receipt, err)
	}
}
