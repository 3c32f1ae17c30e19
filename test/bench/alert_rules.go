package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/internal/proc"
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
			rule.When.New, rule.When.Regressed, rule.Search = true, true, fmt.Sprint("no such text ", i)
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

// fewRules and manyRules are compared by the rows about rules.
var fewRules, manyRules = ruleCounts{}, ruleCounts{records: 50}

// foldRules measures what fifty rules cost the fold, ingestRules what they cost while events
// come in.
func (b *bench) foldRules() error {
	return b.compareRules("fold with 50 rules, 1 M signatures", b.foldWith)
}

func (b *bench) ingestRules() error {
	return b.compareRules("single event with 50 rules, 64", b.ingestWith)
}

// ruleCosts is what an event takes of all processors, and what the process with the
// service does, in µs. Rules cost nothing elsewhere, and ClickHouse's merges take another
// time in each round.
type ruleCosts struct{ all, own []float64 }

// compareRules does the same work with the rules and without, in turns. with adds what it
// took to costs.
func (b *bench) compareRules(name string, with func(n ruleCounts, costs *ruleCosts) func() (float64, error)) error {
	var costs [2]ruleCosts
	many, few, ratio, err := paired(b.rounds, with(manyRules, &costs[0]), with(fewRules, &costs[1]))
	if err != nil {
		return err
	}
	row{name: name, ours: many, ceiling: few, unit: "events/s", ratio: ratio, target: 0.97}.write(b.out)
	row{name: "CPU of that, load included", ours: median(costs[0].all), ceiling: median(costs[1].all), unit: "µs/event"}.write(b.out)
	row{name: "CPU of that, without ClickHouse", ours: median(costs[0].own), ceiling: median(costs[1].own), unit: "µs/event"}.write(b.out)
	return nil
}

// foldWith folds a log of its own, and adds what an event took to costs.
func (b *bench) foldWith(n ruleCounts, costs *ruleCosts) func() (float64, error) {
	return func() (float64, error) {
		dir := filepath.Join(b.dir, "fold-rules")
		e, stop, err := b.engines(dir)
		if err != nil {
			return 0, err
		}
		f, err := foldRound(e, foldEvents, n)
		costs.all, costs.own = append(costs.all, f.cpu), append(costs.own, f.own)
		return f.perSecond, errors.Join(err, stop(), os.RemoveAll(dir))
	}
}

// ingestWith sends single events to a service of its own, and adds what one took to costs.
func (b *bench) ingestWith(n ruleCounts, costs *ruleCosts) func() (float64, error) {
	return func() (perSecond float64, err error) {
		err = b.withService("ingest-rules", unlimited(), func() error {
			if err := b.makeRules(n); err != nil {
				return err
			}
			req := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), nativeEvent(7), 1)
			if _, err := load.Strict(b.addr, req, 64, b.span/3); err != nil { // the first events are dearer
				return err
			}
			before, err := proc.ReadProcessors()
			if err != nil {
				return err
			}
			own := doortest.CPU()
			r, err := load.Strict(b.addr, req, 64, b.span)
			if err != nil {
				return err
			}
			costs.own = append(costs.own, float64((doortest.CPU()-own).Microseconds())/float64(r.Events))
			after, err := proc.ReadProcessors()
			costs.all = append(costs.all, after.BusyMicros(before)/float64(r.Events))
			perSecond = r.PerSecond()
			return err
		})
		return perSecond, err
	}
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
