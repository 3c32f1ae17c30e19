package settings

import (
	"context"
	"reflect"

	"github.com/errata-log/errata/alerts"
)

// alertRules are the rules of alerts, all in one fact. The projector reads them off the
// log, so that each event meets the rules of its place.
var alertRules = setting[alerts.Set]{
	name:  "alerts.rules",
	in:    func(s *Snapshot) *alerts.Set { return &s.AlertRules },
	equal: func(a, b alerts.Set) bool { return reflect.DeepEqual(a, b) },
}

// alertChannels are the channels, with their secrets sealed.
var alertChannels = setting[alerts.Channels]{
	name:  "alerts.channels",
	in:    func(s *Snapshot) *alerts.Channels { return &s.AlertChannels },
	equal: func(a, b alerts.Channels) bool { return reflect.DeepEqual(a, b) },
}

// Alerts are the rules and channels, as in Snapshot. It never blocks.
func (s *Store) Alerts() (alerts.Set, alerts.Channels) {
	now := s.Snapshot()
	return now.AlertRules, now.AlertChannels
}

// ReadAlertRules asks the log for the rules.
func (s *Store) ReadAlertRules(ctx context.Context) (alerts.Set, error) {
	return read(ctx, s, alertRules)
}

// UpdateAlertRules writes the rules that change makes of those in force. change is called
// again when another change came first; its error is returned as it is. Errors: log_full;
// log_unavailable when the change may or may not take effect.
func (s *Store) UpdateAlertRules(ctx context.Context, change func(alerts.Set) (alerts.Set, error)) (alerts.Set, error) {
	return update(ctx, s, alertRules, change)
}

// ReadAlertChannels asks the log for the channels.
func (s *Store) ReadAlertChannels(ctx context.Context) (alerts.Channels, error) {
	return read(ctx, s, alertChannels)
}

// UpdateAlertChannels is UpdateAlertRules for the channels.
func (s *Store) UpdateAlertChannels(ctx context.Context, change func(alerts.Channels) (alerts.Channels, error)) (alerts.Channels, error) {
	return update(ctx, s, alertChannels, change)
}
