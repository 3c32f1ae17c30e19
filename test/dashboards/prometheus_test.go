package dashboards

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scrapeInterval is that of deploy/prometheus/prometheus.yaml.
const scrapeInterval = 15 * time.Second

// question asks for the value of an expression; see the command promql, which answers.
type question struct {
	Expression string
	At         int64
	Instead    map[string][]sample
}

type sample struct {
	At    int64
	Value float64
}

type answer struct {
	Error  string
	Values []struct {
		Labels map[string]string
		Value  float64
	}
	Selectors []struct {
		Name, Text   string
		Found, Named bool
	}
	Unlike []string
}

// prometheus is a Prometheus that looked twice at the metrics of a service.
type prometheus struct {
	t       *testing.T
	program string
	r       *running
	after   string // the metrics at the second look
	now     time.Time
}

// newPrometheus builds the command promql. The go command keeps what it has built before.
func newPrometheus(t *testing.T, r *running) *prometheus {
	t.Helper()
	after := r.await("errata_alerts_waiting 0") // the second traffic makes messages too
	p := &prometheus{t: t, program: filepath.Join(t.TempDir(), "promql"), r: r, after: after, now: time.Now()}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-buildvcs=false", "-o", p.program, ".")
	build.Dir = "promql"
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build promql: %v\n%s", err, out)
	}
	return p
}

// ask asks all questions at once, and whether the rules are well formed.
func (p *prometheus) ask(rules string, questions []question) []answer {
	p.t.Helper()
	type scrape struct {
		At                  int64
		Job, Instance, Text string
	}
	input, err := json.Marshal(map[string]any{
		"Scrapes": []scrape{
			{p.now.Add(-scrapeInterval).UnixMilli(), "errata", p.r.instance, p.r.before},
			{p.now.UnixMilli(), "errata", p.r.instance, p.after},
		},
		"Rules": rules, "Questions": questions,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	var output, problems bytes.Buffer
	run := exec.CommandContext(p.t.Context(), p.program)
	run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(input), &output, &problems
	if err := run.Run(); err != nil {
		p.t.Fatalf("promql: %v\n%s", err, &problems)
	}
	var answered struct {
		RuleErrors []string
		Answers    []answer
	}
	if err := json.Unmarshal(output.Bytes(), &answered); err != nil || len(answered.Answers) != len(questions) {
		p.t.Fatalf("promql answers %d of %d questions: %v\n%s", len(answered.Answers), len(questions), err, &output)
	}
	for _, problem := range answered.RuleErrors {
		p.t.Error(problem)
	}
	return answered.Answers
}

// question asks about now.
func (p *prometheus) question(expression string) question {
	return question{Expression: expression, At: p.now.UnixMilli()}
}

// filled is an expression with the variables of Grafana filled in.
func (p *prometheus) filled(expression string) string {
	p.t.Helper()
	expression = strings.NewReplacer("$job", "errata", "$instance", p.r.instance, "$__rate_interval", "4m").Replace(expression)
	if strings.Contains(expression, "$") {
		p.t.Fatalf("not everything is filled in: %s", expression)
	}
	return expression
}
