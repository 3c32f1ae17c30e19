package main

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// BenchmarkDecide decides by fifty rules, hardly any of which fires, for events that are each
// the first one of a record: the most that rules cost.
func BenchmarkDecide(b *testing.B) {
	d := alerts.NewDecider(busyRules(manyRules))
	r := errata.Record{
		Book: errata.BookSystem, Project: 1, Count: 1, Status: errata.StatusOpen,
		Message: "could not charge order 17 of Miller & Sons", Class: "PaymentError", File: "src/Payment/Gateway.php",
	}
	s := alerts.Sighting{Level: errata.LevelError, Environment: "production"}
	b.ReportAllocs()
	for b.Loop() {
		w := d.Watch(alerts.Problem{Record: &r}, &s)
		w.See(&s, func(alerts.Firing) { b.Fatal("a rule fired") })
	}
}
