package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// setRules puts so many rules of alerts on the log. Each of them has to be looked at for
// each event, and hardly any of them fires: otherwise the row would measure firings.
func setRules(log eventlog.Log, n int) error {
	if n == 0 {
		return nil
	}
	var rules alerts.Set
	for i := range n {
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
	data, err := json.Marshal(map[string]any{"v": 1, "before": alerts.Set{}, "after": rules})
	if err != nil {
		return err
	}
	if _, err := eventlog.AppendSetting(context.Background(), log, "alerts.rules", data, 0); err != nil {
		return fmt.Errorf("put %d rules on the log: %w", n, err)
	}
	return nil
}
