package service

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/internal/secretfile"
)

// SecretFile is the name of the file with the secret that seals those of channels.
const SecretFile = "alerts.secret"

// maxFact keeps the fact of all rules, before and after a change, below the largest
// message.
const maxFact = 256 << 10

// Facts are rules and channels on the log; a *settings.Store has them.
type Facts interface {
	// Alerts is this node's copy, at most a second old.
	Alerts() (alerts.Set, alerts.Channels)
	// The others ask the log. change is called again when another change came first.
	// Errors: log_full, log_unavailable.
	ReadAlertRules(ctx context.Context) (alerts.Set, error)
	ReadAlertChannels(ctx context.Context) (alerts.Channels, error)
	UpdateAlertRules(ctx context.Context, change func(alerts.Set) (alerts.Set, error)) (alerts.Set, error)
	UpdateAlertChannels(ctx context.Context, change func(alerts.Channels) (alerts.Channels, error)) (alerts.Channels, error)
}

// Service is safe for concurrent use.
type Service struct {
	facts  Facts
	seal   *alerts.Seal
	random io.Reader
}

// New reads the secret of the folder, and makes it when there is none.
func New(facts Facts, dir string) (*Service, error) {
	secret, err := secretfile.Load(dir, SecretFile, "the channels of alerts must be set up anew")
	if err != nil {
		return nil, err
	}
	seal, err := alerts.NewSeal(secret)
	if err != nil {
		return nil, err
	}
	return &Service{facts: facts, seal: seal, random: rand.Reader}, nil
}

// Known are this node's copies of the rules and channels, at most a second old; it never
// blocks. The channels are without their secrets.
func (s *Service) Known() (alerts.Set, alerts.Channels) { return s.facts.Alerts() }

// Rules are all rules. Errors: log_unavailable.
func (s *Service) Rules(ctx context.Context) (alerts.Set, error) { return s.facts.ReadAlertRules(ctx) }

// Rule is the rule with the id. Errors: not_found, log_unavailable.
func (s *Service) Rule(ctx context.Context, id string) (alerts.Rule, error) {
	all, err := s.facts.ReadAlertRules(ctx)
	if err != nil {
		return alerts.Rule{}, err
	}
	rule, found := all.Find(id)
	if !found {
		return alerts.Rule{}, alerts.ErrNoRule
	}
	return rule, nil
}

// CreateRule makes a rule of what was sent. Errors: those of [alerts.RulePatch],
// too_many_alerts, log_full, log_unavailable.
func (s *Service) CreateRule(ctx context.Context, patch alerts.RulePatch) (alerts.Rule, error) {
	id, err := s.newID("rule")
	if err != nil {
		return alerts.Rule{}, err
	}
	return s.writeRule(ctx, func(alerts.Set) (alerts.Rule, error) { return alerts.NewRule(id), nil }, patch)
}

// UpdateRule changes the rule with the id. Errors: not_found, and those of CreateRule.
func (s *Service) UpdateRule(ctx context.Context, id string, patch alerts.RulePatch) (alerts.Rule, error) {
	return s.writeRule(ctx, func(all alerts.Set) (alerts.Rule, error) {
		rule, found := all.Find(id)
		if !found {
			return rule, alerts.ErrNoRule
		}
		return rule, nil
	}, patch)
}

func (s *Service) writeRule(ctx context.Context, present func(alerts.Set) (alerts.Rule, error), patch alerts.RulePatch) (rule alerts.Rule, err error) {
	channels, err := s.facts.ReadAlertChannels(ctx)
	if err != nil {
		return rule, err
	}
	_, err = s.facts.UpdateAlertRules(ctx, func(all alerts.Set) (alerts.Set, error) {
		before, err := present(all)
		if err != nil {
			return nil, err
		}
		if rule, err = patch.Apply(before, channels); err != nil {
			return nil, err
		}
		counting, err := s.newID("counting")
		if err != nil {
			return nil, err
		}
		rule = rule.Recount(&before, counting)
		next := all.With(rule)
		return next, errors.Join(alerts.TooMany(len(next), 0), fits(next))
	})
	if err != nil {
		return rule, err
	}
	return rule, s.leaveGone(ctx, rule)
}

// leaveGone takes channels out of a rule that were removed while it was written: whoever
// removes a channel may have asked for the rules before. Errors: invalid_alert when the rule
// sent to one, log_full, log_unavailable.
func (s *Service) leaveGone(ctx context.Context, rule alerts.Rule) error {
	channels, err := s.facts.ReadAlertChannels(ctx)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(slices.Clone(rule.To), func(id string) bool {
		_, found := channels.Find(id)
		return found
	})
	if len(gone) == 0 {
		return nil
	}
	_, err = s.facts.UpdateAlertRules(ctx, func(all alerts.Set) (alerts.Set, error) { return without(all, gone...), nil })
	if err != nil {
		return err
	}
	return errata.Errorf(errata.KindInvalidAlert, "A channel of the rule was removed just now, and the rule does not send to it any more; look at it again.").
		With(map[string]any{"field": "to"})
}

// without takes channels out of all rules. A rule that can tell nobody any more goes too.
func without(rules alerts.Set, channels ...string) (left alerts.Set) {
	for _, rule := range rules {
		rule.To = slices.DeleteFunc(slices.Clone(rule.To), func(id string) bool { return slices.Contains(channels, id) })
		if len(rule.To) > 0 {
			left = append(left, rule)
		}
	}
	return left
}

// DeleteRule removes the rule with the id. Errors: not_found, log_full, log_unavailable.
func (s *Service) DeleteRule(ctx context.Context, id string) error {
	_, err := s.facts.UpdateAlertRules(ctx, func(all alerts.Set) (alerts.Set, error) {
		if _, found := all.Find(id); !found {
			return nil, alerts.ErrNoRule
		}
		return all.Without(id), nil
	})
	return err
}

// fits says whether the list fits into one fact.
func fits(list any) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if len(text) > maxFact {
		return errata.Errorf(errata.KindTooManyAlerts, "All rules, or all channels, together have at most %d bytes; shorten their lists, or remove one that nobody needs.", maxFact)
	}
	return nil
}

// newID draws an id that nobody had before.
func (s *Service) newID(of string) (string, error) {
	raw := make([]byte, 10)
	if _, err := io.ReadFull(s.random, raw); err != nil {
		return "", err
	}
	return of + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(raw)), nil
}

// inUse are the names of the rules that send to the channel.
func inUse(rules alerts.Set, channel string) (names []string) {
	for _, rule := range rules {
		if slices.Contains(rule.To, channel) {
			names = append(names, rule.Name)
		}
	}
	return names
}
