package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/alerts"
)

// What a rule counts under is made by the service: it stands on the log, is another one when
// the rule counts something else, and nobody sees or sets it.
func TestCountingOfARule(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, "Alerts/*")
	to := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	counting := func() string {
		rules, _ := b.alerts.Alerts()
		return rules[0].Counting
	}
	var made alerts.Rule
	body := `{"name":"Loud","when":{"spike":{"factor":5,"minutes":60},"quiet":{"minutes":120}},"counting":"mine","to":["` + to + `"]}`
	if status, code := b.askAlerts(t, admin, "POST", rulesPath, body, &made); status != http.StatusCreated {
		t.Fatal(status, code)
	}
	first := counting()
	if *made.When.Spike != (alerts.Spike{Factor: 5, Minutes: 60}) || *made.When.Quiet != (alerts.Quiet{Minutes: 120}) || made.Counting != "" || len(first) < 16 {
		t.Errorf("made %+v, which counts as %q", made, first)
	}
	known := map[string]bool{first: true}
	for _, step := range []struct {
		patch string
		fresh bool
	}{
		{`{"name":"Louder","throttle_minutes":5,"counting":"mine"}`, false}, {`{"when":{"spike":{"factor":5,"minutes":60},"quiet":{"minutes":120}}}`, false},
		{`{"search":"order"}`, true}, {`{"when":{"spike":{"factor":6,"minutes":60}}}`, true},
	} {
		var answer json.RawMessage
		before := counting()
		status, code := b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, step.patch, &answer)
		if status != http.StatusOK || strings.Contains(string(answer), "counting") {
			t.Errorf("%s: %d %s %s", step.patch, status, code, answer)
		}
		if now := counting(); now != before != step.fresh || step.fresh && known[now] {
			t.Errorf("%s: counts as %q, before as %q", step.patch, now, before)
		}
		known[counting()] = true
	}
	b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, `{"enabled":false}`, nil)
	off := counting()
	b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, `{"enabled":true}`, nil)
	if again := counting(); off != "" || again == "" || known[again] {
		t.Errorf("switched off it counts as %q, and on again as %q", off, again)
	}
}

// alertRefusal is a body that is refused.
type alertRefusal struct {
	path, body string
	status     int
	code       string
	field      string
}

func (c alertRefusal) check(t *testing.T, b *bench, admin string) {
	t.Helper()
	method := "POST"
	if c.path != rulesPath && c.path != channelsPath {
		method = "PATCH"
	}
	w := b.do(request{method: method, target: c.path, key: admin, body: c.body, headers: []string{"Content-Type: application/json"}})
	var refused struct {
		Error struct{ Details struct{ Field string } }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &refused); w.Code != c.status || code(t, w) != c.code || c.field != "" && (err != nil || refused.Error.Details.Field != c.field) {
		t.Errorf("%s %s %s: %d %s, want %d %s about %s", method, c.path, c.body, w.Code, w.Body, c.status, c.code, c.field)
	}
}

func TestConditionsOnProjectsAreChecked(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, access.AlertsManage)
	to := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	rule := func(members string) string { return `{"name":"x","to":["` + to + `"],` + members + `}` }
	for _, c := range []alertRefusal{
		{rulesPath, rule(`"when":{"spike":{"factor":1,"minutes":60}}`), 422, "invalid_alert", "when.spike.factor"},
		{rulesPath, rule(`"when":{"spike":{"factor":1001,"minutes":60}}`), 422, "invalid_alert", "when.spike.factor"},
		{rulesPath, rule(`"when":{"spike":{"factor":2.5,"minutes":60}}`), 400, "invalid_body", "when.spike.factor"},
		{rulesPath, rule(`"when":{"spike":{"factor":2,"minutes":4}}`), 422, "invalid_alert", "when.spike.minutes"},
		{rulesPath, rule(`"when":{"spike":{"factor":2,"minutes":1441}}`), 422, "invalid_alert", "when.spike.minutes"},
		{rulesPath, rule(`"when":{"spike":{"factor":2}}`), 422, "invalid_alert", "when.spike.minutes"},
		{rulesPath, rule(`"when":{"spike":{"factor":2,"minutes":60,"least":5}}`), 422, "invalid_alert", "when.spike.least"},
		{rulesPath, rule(`"when":{"spike":true}`), 400, "invalid_body", "when.spike"},
		{rulesPath, rule(`"when":{"quiet":{"minutes":4}}`), 422, "invalid_alert", "when.quiet.minutes"},
		{rulesPath, rule(`"when":{"quiet":{"minutes":10081}}`), 422, "invalid_alert", "when.quiet.minutes"},
		{rulesPath, rule(`"when":{"quiet":null}`), 400, "invalid_body", "when.quiet"},
		{rulesPath, rule(`"when":{"quiet":{"minutes":"60"}}`), 400, "invalid_body", "when.quiet.minutes"},
	} {
		c.check(t, b, admin)
	}
	if rules, _ := b.alerts.Alerts(); len(rules) != 0 {
		t.Errorf("after refusals: %+v", rules)
	}
}
