package service

import (
	"context"
	"errors"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// Channels are all channels as they are answered. Errors: log_unavailable.
func (s *Service) Channels(ctx context.Context) ([]alerts.Channel, error) {
	all, err := s.facts.ReadAlertChannels(ctx)
	if err != nil {
		return nil, err
	}
	shown := make([]alerts.Channel, 0, len(all))
	for _, sealed := range all {
		c, err := s.seal.Open(sealed)
		if err != nil {
			c = sealed // the list is shown, and the channel says with its next message what is wrong
		}
		shown = append(shown, c.Shown())
	}
	return shown, nil
}

// Channel is the channel with the id and with its secrets, for whoever sends. Errors:
// not_found, and one when its secrets do not open.
func (s *Service) Channel(ctx context.Context, id string) (alerts.Channel, error) {
	all, err := s.facts.ReadAlertChannels(ctx)
	if err != nil {
		return alerts.Channel{}, err
	}
	sealed, found := all.Find(id)
	if !found {
		return alerts.Channel{}, alerts.ErrNoChannel
	}
	return s.seal.Open(sealed)
}

// CreateChannel makes a channel of what was sent. A webhook without a secret gets one, and
// secret is its text, which nothing else ever shows. Errors: those of [alerts.ChannelPatch],
// too_many_alerts, log_full, log_unavailable.
func (s *Service) CreateChannel(ctx context.Context, patch alerts.ChannelPatch) (c alerts.Channel, secret string, err error) {
	id, err := s.newID("channel")
	if err != nil {
		return c, "", err
	}
	if kind, _ := patch.Kind.Get(); kind == alerts.Webhook && patch.Secret.Or("") == "" {
		if secret, err = alerts.NewSigningSecret(s.random); err != nil {
			return c, "", err
		}
		patch.Secret = errata.Sent(secret)
	}
	if c, err = patch.Apply(alerts.NewChannel(id)); err != nil {
		return c, "", err
	}
	return c.Shown(), secret, s.writeChannel(ctx, func(alerts.Channels) (alerts.Channel, error) { return s.seal.Close(c) })
}

// UpdateChannel changes the channel with the id. Errors: not_found, and those of
// CreateChannel.
func (s *Service) UpdateChannel(ctx context.Context, id string, patch alerts.ChannelPatch) (c alerts.Channel, err error) {
	err = s.writeChannel(ctx, func(all alerts.Channels) (alerts.Channel, error) {
		sealed, found := all.Find(id)
		if !found {
			return c, alerts.ErrNoChannel
		}
		opened, unread := s.seal.Open(sealed)
		if unread != nil {
			opened = sealed
			if !patch.URL.IsSent() && sealed.Kind != alerts.Email {
				return c, errata.Errorf(errata.KindInvalidAlert, "The secrets of this channel cannot be read on this node; send its url and secret again.").
					Because(unread).With(map[string]any{"field": "url"})
			}
		}
		var err error
		if c, err = patch.Apply(opened); err != nil {
			return c, err
		}
		if unread == nil && c.URL == opened.URL && c.Secret == opened.Secret {
			same := c // sealed bytes change with the secrets alone: the audit trail tells by them
			same.URL, same.Secret, same.Sealed = "", "", sealed.Sealed
			return same, nil
		}
		return s.seal.Close(c)
	})
	return c.Shown(), err
}

// writeChannel writes the sealed channel that change makes.
func (s *Service) writeChannel(ctx context.Context, change func(alerts.Channels) (alerts.Channel, error)) error {
	_, err := s.facts.UpdateAlertChannels(ctx, func(all alerts.Channels) (alerts.Channels, error) {
		sealed, err := change(all)
		if err != nil {
			return nil, err
		}
		next := all.With(sealed)
		return next, errors.Join(alerts.TooMany(0, len(next)), fits(next))
	})
	return err
}

// DeleteChannel removes the channel with the id. One that a rule sends to stays. Errors:
// not_found, invalid_alert, log_full, log_unavailable.
func (s *Service) DeleteChannel(ctx context.Context, id string) error {
	rules, err := s.facts.ReadAlertRules(ctx)
	if err != nil {
		return err
	}
	if names := inUse(rules, id); len(names) > 0 {
		return errata.Errorf(errata.KindInvalidAlert, "Rules send to this channel: %s. Take it out of them first.", strings.Join(names, ", ")).
			With(map[string]any{"rules": names})
	}
	_, err = s.facts.UpdateAlertChannels(ctx, func(all alerts.Channels) (alerts.Channels, error) {
		if _, found := all.Find(id); !found {
			return nil, alerts.ErrNoChannel
		}
		return all.Without(id), nil
	})
	if err != nil {
		return err
	}
	return s.leave(ctx, id)
}

// leave takes a removed channel out of rules that were written meanwhile.
func (s *Service) leave(ctx context.Context, id string) error {
	rules, err := s.facts.ReadAlertRules(ctx)
	if err != nil || len(inUse(rules, id)) == 0 {
		return err
	}
	_, err = s.facts.UpdateAlertRules(ctx, func(all alerts.Set) (alerts.Set, error) { return without(all, id), nil })
	return err
}
