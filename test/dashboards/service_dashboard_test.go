package dashboards

import (
	"regexp"
	"testing"
)

// labelValues is the query of a variable.
var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// labelsOf are the labels that a legend shows.
func labelsOf(legend string) (names []string) {
	for _, found := range shownLabel.FindAllStringSubmatch(legend, -1) {
		names = append(names, found[1])
	}
	return names
}

var shownLabel = regexp.MustCompile(`{{(\w+)}}`)

// serviceDashboard runs the queries of the dashboard of the service.
func serviceDashboard(t *testing.T, r *running) {
	p := newPrometheus(t, r)
	d := readDashboard(t, "errata-service.json")
	var questions []question
	var of []string
	var labels [][]string // those that the panel or the variable shows
	for _, one := range d.Panels {
		for _, q := range one.Targets {
			questions = append(questions, p.question(p.filled(q.Expr)))
			of, labels = append(of, one.Title), append(labels, labelsOf(q.Legend))
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(v.Definition)
		if parts == nil {
			t.Fatalf("the variable %s asks %s", v.Name, v.Definition)
		}
		questions = append(questions, p.question(p.filled(parts[1])))
		of, labels = append(of, "the variable "+v.Name), append(labels, parts[2:])
	}
	for i, a := range p.ask("", questions) {
		if a.Error != "" || len(a.Values) == 0 {
			t.Errorf("%s shows nothing: %s: %s", of[i], questions[i].Expression, a.Error)
			continue
		}
		for _, label := range labels[i] {
			if a.Values[0].Labels[label] == "" {
				t.Errorf("%s: %v has no label %s", of[i], a.Values[0].Labels, label)
			}
		}
		for _, s := range a.Selectors {
			if sometimes[s.Name] {
				checkNamed(t, s.Name)
			} else if !s.Found {
				t.Errorf("%s: there is no %s", of[i], s.Text)
			}
		}
	}
}
