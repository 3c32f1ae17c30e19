package projector

import (
	"context"
	"encoding/json"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// settingRules is the name of the setting that holds the rules of alerts.
const settingRules = "alerts.rules"

// alertRules are the rules in force at a place of the log; nil for none.
type alertRules struct {
	set alerts.Set
	// waits says that some of them look for quiet projects, at ticks.
	waits bool
}

// after returns the rules after the fact.
func (r *alertRules) after(f eventlog.Fact) *alertRules {
	if f.Kind != eventlog.FactSetting || f.Name != settingRules {
		return r
	}
	set, ok := decodeRules(f.Data)
	switch {
	case !ok:
		return r // of a newer version, or no fact of ours
	case len(set) == 0:
		return nil
	default:
		return &alertRules{set: set, waits: alerts.LookForQuiet(set)}
	}
}

func decodeRules(data []byte) (set alerts.Set, ok bool) {
	var body struct {
		Version int         `json:"v"`
		After   *alerts.Set `json:"after"`
	}
	if json.Unmarshal(data, &body) != nil || body.Version != 1 || body.After == nil {
		return nil, false
	}
	return *body.After, true
}

// rulesAt reads the rules that are in force behind a fact. A rebuild beside the live
// projection has none: whoever was to be told has been told.
func (p *Projector) rulesAt(ctx context.Context, sequence uint64) (*alertRules, error) {
	if p.cfg.Quiet || sequence == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	f, found, err := eventlog.SettingBefore(ctx, p.cfg.Log, settingRules, sequence+1, func(data []byte) bool {
		_, ok := decodeRules(data)
		return ok
	})
	if err != nil || !found {
		return nil, err
	}
	return (*alertRules)(nil).after(eventlog.Fact{Kind: eventlog.FactSetting, Name: settingRules, Data: f.Data}), nil
}
