package service_test

import (
	"context"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/service"
)

// facts keep rules and channels, and call between after rules were asked for or changed.
type facts struct {
	rules    alerts.Set
	channels alerts.Channels
	between  func()
}

func (f *facts) Alerts() (alerts.Set, alerts.Channels) { return f.rules, f.channels }

func (f *facts) ReadAlertRules(context.Context) (alerts.Set, error) {
	rules := f.rules
	f.once()
	return rules, nil
}

func (f *facts) ReadAlertChannels(context.Context) (alerts.Channels, error) { return f.channels, nil }

func (f *facts) UpdateAlertRules(_ context.Context, change func(alerts.Set) (alerts.Set, error)) (alerts.Set, error) {
	next, err := change(f.rules)
	if err == nil {
		f.rules = next
	}
	f.once()
	return f.rules, err
}

func (f *facts) UpdateAlertChannels(_ context.Context, change func(alerts.Channels) (alerts.Channels, error)) (alerts.Channels, error) {
	next, err := change(f.channels)
	if err == nil {
		f.channels = next
	}
	return f.channels, err
}

func (f *facts) once() {
	if do := f.between; do != nil {
		f.between = nil
		do()
	}
}

func mail(t *testing.T, s *service.Service) string {
	t.Helper()
	c, _, err := s.CreateChannel(t.Context(), alerts.ChannelPatch{
		Name: errata.Sent("Mail"), Kind: errata.Sent(alerts.Email), Addresses: errata.Sent([]string{"oncall@example.com"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

// TestNoRuleSendsToARemovedChannel: a channel is removed by whoever has seen no rule for it,
// while a rule for it is made.
func TestNoRuleSendsToARemovedChannel(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := &facts{}
		s, err := service.New(f, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		first, second := mail(t, s), mail(t, s)
		patch := alerts.RulePatch{Name: errata.Sent("New"), When: errata.Sent(alerts.When{New: true}), To: errata.Sent([]string{first})}
		if kept {
			patch.To = errata.Sent([]string{first, second})
		}
		var created error
		f.between = func() { _, created = s.CreateRule(t.Context(), patch) } // the rules were asked for
		if err := s.DeleteChannel(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		// It was written before the channel went; nobody could know.
		if created != nil {
			t.Fatal(created)
		}
		checkRules(t, f, kept, second)
	}
}

// TestARuleForAChannelThatGoes: the channel goes between the look at the channels and the
// write of the rule.
func TestARuleForAChannelThatGoes(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := &facts{}
		s, err := service.New(f, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		first, second := mail(t, s), mail(t, s)
		to := []string{first}
		if kept {
			to = append(to, second)
		}
		f.between = func() { f.channels = f.channels.Without(first) } // another node has seen no rule
		_, err = s.CreateRule(t.Context(), alerts.RulePatch{Name: errata.Sent("New"), When: errata.Sent(alerts.When{New: true}), To: errata.Sent(to)})
		if errata.KindOf(err) != errata.KindInvalidAlert {
			t.Errorf("made for a channel that is gone: %v", err)
		}
		checkRules(t, f, kept, second)
	}
}

// checkRules wants one rule for the second channel, or none.
func checkRules(t *testing.T, f *facts, kept bool, second string) {
	t.Helper()
	switch {
	case !kept && len(f.rules) > 0:
		t.Errorf("a rule is left: %+v", f.rules)
	case kept && (len(f.rules) != 1 || len(f.rules[0].To) != 1 || f.rules[0].To[0] != second):
		t.Errorf("rules %+v, want one to %s", f.rules, second)
	}
}
