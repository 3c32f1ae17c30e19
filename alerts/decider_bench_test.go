package alerts_test

import (
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// BenchmarkDecide decides by fifty rules, hardly any of which fires, for events that are each
// the first one of a record: the most that rules cost.
func BenchmarkDecide(b *testing.B) {
	var rules alerts.Set
	for i := range 50 {
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
	d := alerts.NewDecider(rules)
	r := errata.Record{
		Book: errata.BookSystem, Project: 1, Count: 1, Status: errata.StatusOpen,
		Message: "could not charge order 17 of Miller & Sons", Class: "PaymentError", File: "src/Payment/Gateway.php",
	}
	s := alerts.Sighting{Level: errata.LevelError, Environment: "production"}
	b.ReportAllocs()
	for b.Loop() {
		w := d.Watch(alerts.Problem{Record: &r})
		w.See(&s, func(alerts.Firing) { b.Fatal("a rule fired") })
	}
}
