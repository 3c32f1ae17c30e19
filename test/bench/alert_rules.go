package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// ruleCounts is how many rules of alerts are in force: about records, and about projects.
type ruleCounts struct{ records, projects int }

// busyRules are rules that have to be looked at for each event, and hardly any of which
// fires: otherwise a row would measure firings.
func busyRules(n ruleCounts) (rules alerts.Set) {
	for i := range n.records {
		rule := alerts.NewRule(fmt.Sprint("rule-", i))
		switch i % 5 {
		case 0:
			rule.When.Reached = &alerts.Reached{Count: uint64(1_000_000_000 - i)}
		case 1:
			rule.When.Frequency = &alerts.Frequency{Count: 1_000_000, Minutes: 5}
		case 2:
			rule.When.New, rule.Environments = true, []string{"staging"}
		case 3:
			rule.When.New, rule.When.Regressed, rule.Search = true, true, "no such text"
		case 4:
			rule.When.Regressed, rule.Levels = true, []string{"fatal"}
		}
		rules = append(rules, rule)
	}
	for i := range n.projects {
		rule := alerts.NewRule(fmt.Sprint("project-rule-", i))
		if i%2 == 0 {
			rule.When.Spike = &alerts.Spike{Factor: 1000, Minutes: 60}
		} else {
			rule.When.Quiet = &alerts.Quiet{Minutes: 7 * 24 * 60}
		}
		rules = append(rules, rule)
	}
	for i := range rules {
		rules[i].Name = rules[i].ID
	}
	return rules
}

// setRules puts so many busy rules on the log.
func setRules(log eventlog.Log, n ruleCounts) error {
	if n == (ruleCounts{}) {
		return nil
	}
	data, err := json.Marshal(map[string]any{"v": 1, "before": alerts.Set{}, "after": busyRules(n)})
	if err != nil {
		return err
	}
	if _, err := eventlog.AppendSetting(context.Background(), log, "alerts.rules", data, 0); err != nil {
		return fmt.Errorf("put rules on the log: %w", err)
	}
	return nil
}

// makeRules makes so many busy rules in the running service.
func (b *bench) makeRules(n ruleCounts) error {
	if n == (ruleCounts{}) {
		return nil
	}
	ctx := context.Background()
	var channel struct {
		Data struct{ ID string }
	}
	to := map[string]any{"name": "bench", "kind": alerts.Email, "addresses": []string{"bench@example.com"}}
	if err := b.admin(ctx, http.MethodPost, "/api/v1/admin/alerts/channels", to, &channel); err != nil {
		return err
	}
	for _, rule := range busyRules(n) {
		rule.To = []string{channel.Data.ID}
		if err := b.admin(ctx, http.MethodPost, "/api/v1/admin/alerts/rules", rule, &struct{}{}); err != nil {
			return err
		}
	}
	return nil
}
