package outbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// shown is what a test looks at of an item.
type shown struct {
	Cause, Project, Link string
	MuteLink             string `json:"mute_link"`
}

// TestMessagesAboutProjects: a quiet project has a link of its own and nothing to mute, and
// the list of deliveries names projects.
func TestMessagesAboutProjects(t *testing.T) {
	w := newWorld(t)
	o, kill := w.node()
	defer kill()
	w.firings = []alerts.Firing{
		{Position: errata.PositionOf(1, 0), Rule: "rule-a", Cause: alerts.CauseQuiet, Clock: w.now.UnixMilli(), Project: 7, Minutes: 90},
		{Position: errata.PositionOf(1, 1), Rule: "rule-a", Cause: alerts.CauseQuiet, Clock: w.now.UnixMilli(), Project: 8, Minutes: 90},
		{Position: errata.PositionOf(1, 2), Rule: "rule-b", Cause: alerts.CauseSpike, Clock: w.now.UnixMilli(), Project: 7, Events: 120},
	}
	w.settle(o)
	const page = "https://errors.example.org/?"
	want := map[string][]shown{
		"one":   {{"quiet", "7", page + "project=7", ""}, {"quiet", "8", page + "project=8", ""}},
		"three": {{"spike", "7", page + "record=", page + "record=&ask=mute"}},
	}
	for channel, items := range want {
		for _, m := range w.got[channel] {
			if diff := cmp.Diff(items, m.items); diff != "" {
				t.Errorf("%s (-want +got)\n%s", channel, diff)
			}
		}
	}
	for _, d := range o.List() {
		if subject := map[string]string{"rule-a": "quiet: 7", "rule-b": "spike: 7"}[d.Rule]; d.Subject != subject {
			t.Errorf("subject %q, want %q", d.Subject, subject)
		}
	}
}
