package dashboards

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// sometimes are metrics that a service without trouble does not have. Each must be named
// in its source.
var sometimes = map[string]bool{
	"errata_alarm":            true, // while an alarm stands
	"errata_nats_dead_total":  true, // since the first dead letter
	"errata_leaf_joined":      true, // on ingest nodes
	"errata_projection_parts": true, // since the first look at the parts

	"errata_tls_certificate_expires_seconds": true, // with TLS
}

// trouble makes each rule fire: series with their values, the last one of the second look
// at the metrics. A series that a service does have must have the labels that it has there.
var trouble = map[string]map[string][]float64{
	"ErrataDown":            {`up{job="errata",instance="I"}`: {0}},
	"ErrataAlarm":           {`errata_alarm{name="log-gap",job="errata",instance="I"}`: {1}},
	"ErrataRefusesEvents":   {`errata_door_requests_total{door="native",code="log_full",job="errata",instance="I"}`: {1, 2}},
	"ErrataProjectionLags":  {`errata_projector_lag_seconds{job="errata",instance="I"}`: {61}},
	"ErrataExchangesLag":    {`errata_exchange_lag_seconds{log="queries",job="errata",instance="I"}`: {61}},
	"ErrataSlowInserts":     {`errata_projector_insert_seconds_bucket{le="+Inf",job="errata",instance="I"}`: {10, 1000}},
	"ErrataSlowLog":         {`errata_log_append_seconds_bucket{le="+Inf",job="errata",instance="I"}`: {10, 1000}},
	"ErrataLogNearlyFull":   {`errata_log_bytes{job="errata",instance="I"}`: {250 << 20}},
	"ErrataDiskNearlyFull":  {`errata_disk_free_bytes{job="errata",instance="I"}`: {1 << 20}},
	"ErrataLimitsRefuse":    {`errata_refused_events_total{project="1",reason="key_limit",job="errata",instance="I"}`: {1, 2}},
	"ErrataDeadLetters":     {`errata_nats_dead_total{reason="unreadable",job="errata",instance="I"}`: {1}},
	"ErrataAlertsFail":      {`errata_alerts_deliveries_total{state="failed",job="errata",instance="I"}`: {0, 1}},
	"ErrataAlertsWait":      {`errata_alerts_waiting{job="errata",instance="I"}`: {1}},
	"ErrataDamage":          {`errata_log_gaps{state="open",job="errata",instance="I"}`: {1}},
	"ErrataFactsLost":       {`errata_blocks_unreadable_total{job="errata",instance="I"}`: {0, 1}},
	"ErrataEngineRestarts":  {`errata_log_restarts_total{job="errata",instance="I"}`: {0, 1}},
	"ErrataManyParts":       {`errata_projection_parts{table="records",job="errata",instance="I"}`: {101}},
	"ErrataForeignFacts":    {`errata_unreadable_facts_total{stream="log",job="errata",instance="I"}`: {0, 1}},
	"ErrataNodeCutOff":      {`errata_leaf_joined{job="errata",instance="I"}`: {0}},
	"ErrataCertificateEnds": {`errata_tls_certificate_expires_seconds{listener="http",name="errata.example.com",job="errata",instance="I"}`: {86400}},
	"ErrataSignInsFail":     {`errata_signins_total{side="admin",outcome="failure",job="errata",instance="I"}`: {0, 500}},
}

// alertRules checks that no rule fires for a service without trouble, and each for its own.
func alertRules(t *testing.T, r *running) {
	p := newPrometheus(t, r)
	text, rules := readRules(t)
	if len(rules) != len(trouble) {
		t.Errorf("there are %d rules and %d kinds of trouble", len(rules), len(trouble))
	}
	var questions []question
	for _, rule := range rules {
		ill := p.question(rule.Expr)
		ill.Instead = map[string][]sample{}
		for series, values := range trouble[rule.Alert] {
			series = strings.ReplaceAll(series, `"I"`, `"`+r.instance+`"`)
			for i, value := range values {
				at := p.now.Add(time.Duration(i+1-len(values)) * scrapeInterval)
				ill.Instead[series] = append(ill.Instead[series], sample{At: at.UnixMilli(), Value: value})
			}
		}
		questions = append(questions, p.question(rule.Expr), ill)
	}
	answers := p.ask(text, questions)
	for i, rule := range rules {
		checkWell(t, rule, answers[2*i])
		checkIll(t, rule, answers[2*i+1])
	}
}

// checkWell: all metrics are there, and the rule does not fire.
func checkWell(t *testing.T, rule rule, a answer) {
	t.Helper()
	if a.Error != "" || len(a.Values) > 0 {
		t.Errorf("%s fires without trouble: %s%v", rule.Alert, a.Error, a.Values)
	}
	for _, s := range a.Selectors {
		if sometimes[s.Name] {
			checkNamed(t, s.Name)
		} else if !s.Named {
			t.Errorf("%s: there is no metric %s", rule.Alert, s.Name)
		}
	}
}

// checkIll: the rule fires once, with the labels that its texts name.
func checkIll(t *testing.T, rule rule, a answer) {
	t.Helper()
	if a.Error != "" || len(a.Values) != 1 {
		t.Errorf("%s fires %d times for its trouble, want once: %s%v", rule.Alert, len(a.Values), a.Error, a.Values)
		return
	}
	for _, series := range a.Unlike {
		if name, _, _ := strings.Cut(series, "{"); !sometimes[name] {
			t.Errorf("%s: no service has a %s with these labels", rule.Alert, series)
		}
	}
	for _, label := range usedLabels.FindAllStringSubmatch(rule.Annotations.Summary+rule.Annotations.Description, -1) {
		if a.Values[0].Labels[label[1]] == "" {
			t.Errorf("%s names the label %s, and has %v", rule.Alert, label[1], a.Values[0].Labels)
		}
	}
}

var usedLabels = regexp.MustCompile(`\$labels\.(\w+)`)

// rule is one rule of alerts.
type rule struct {
	Alert       string `yaml:"alert"`
	Expr        string `yaml:"expr"`
	Labels      struct{ Severity string }
	Annotations struct {
		Summary     string `yaml:"summary"`
		Description string `yaml:"description"`
		RunbookURL  string `yaml:"runbook_url"`
	} `yaml:"annotations"`
}

func readRules(t *testing.T) (text string, rules []rule) {
	t.Helper()
	content, err := os.ReadFile(deploy + "prometheus/errata.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct{ Rules []rule }
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	return string(content), rules
}

// checkNamed looks for a metric in the sources.
func checkNamed(t *testing.T, metric string) {
	t.Helper()
	out, err := exec.Command("grep", "-rl", "--include=*.go", "--exclude=*_test.go", "--exclude-dir=node_modules", `"`+metric+`"`, "../..").Output()
	if err != nil || len(out) == 0 {
		t.Errorf("no source names %s: %v", metric, err)
	}
}

// docs begins the links of rules.
const docs = "https://github.com/errata-log/errata/blob/main/docs/"

// TestRulesSayWhatToDo: each has a summary, a description, and a link to a section that
// there is.
func TestRulesSayWhatToDo(t *testing.T) {
	_, rules := readRules(t)
	overview, err := os.ReadFile("../../docs/grafana.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if !strings.Contains(string(overview), "\n| `"+rule.Alert+"` | ") {
			t.Errorf("docs/grafana.md does not say when %s fires", rule.Alert)
		}
		if rule.Annotations.Summary == "" || len(rule.Annotations.Description) < 80 || rule.Labels.Severity == "" {
			t.Errorf("%s says too little: %+v", rule.Alert, rule.Annotations)
		}
		page, anchor, _ := strings.Cut(strings.TrimPrefix(rule.Annotations.RunbookURL, docs), "#")
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatalf("%s: %v", rule.Alert, err)
		}
		if !slices.Contains(anchors(string(text)), anchor) {
			t.Errorf("%s links to %s, which has no section %q", rule.Alert, page, anchor)
		}
	}
}

// anchors are those that GitHub makes of the headings of a page.
func anchors(page string) (all []string) {
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			text := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, strings.ReplaceAll(text, " ", "-"))
		}
	}
	return all
}
