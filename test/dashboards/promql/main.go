// Command promql answers questions as a Prometheus does that has looked at the metrics of a
// service. It reads one JSON object from standard input and writes one to standard output.
// It is a module of its own, so that nobody who builds or imports Errata gets the
// dependencies of Prometheus, and must import nothing of Errata.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// asked is what is read.
type asked struct {
	// Scrapes are looks at the metrics, in the order of their times.
	Scrapes []struct {
		At            int64 // Unix milliseconds
		Job, Instance string
		Text          string
	}
	// Rules is a file of rules.
	Rules     string
	Questions []question
}

// question asks for the value of an expression.
type question struct {
	Expression string
	At         int64
	// Instead are series that stand in the place of what was scraped: their samples.
	Instead map[string][]sample
}

type sample struct {
	At    int64
	Value float64
}

// answered is what is written.
type answered struct {
	RuleErrors []string
	Answers    []answer
}

// answer is that to one question.
type answer struct {
	Error string
	// Values are those that are a number.
	Values []value
	// Selectors are what the expression reads.
	Selectors []selector
	// Unlike are the series of Instead that are not like any series of their name: they
	// have other labels. Values do not count.
	Unlike []string
}

type value struct {
	Labels map[string]string
	Value  float64
}

type selector struct {
	Name, Text string
	// Found says that something was scraped that it matches, Named that there was
	// something of this name.
	Found, Named bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var in asked
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	stored := memory{}
	for _, s := range in.Scrapes {
		if err := stored.scrape(s.Text, s.Job, s.Instance, s.At); err != nil {
			return err
		}
	}
	out := answered{RuleErrors: []string{}}
	_, errs := rulefmt.Parse([]byte(in.Rules), false, model.UTF8Validation, promQL, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		out.RuleErrors = append(out.RuleErrors, err.Error())
	}
	for _, q := range in.Questions {
		out.Answers = append(out.Answers, stored.answer(q))
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
