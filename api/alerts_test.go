package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/outbox"
	alertservice "github.com/errata-log/errata/alerts/service"
)

const (
	rulesPath      = "/api/v1/admin/alerts/rules"
	channelsPath   = "/api/v1/admin/alerts/channels"
	deliveriesPath = "/api/v1/admin/alerts/deliveries"
)

// alertFacts keep rules and channels in memory.
type alertFacts struct {
	mu       sync.Mutex
	rules    alerts.Set
	channels alerts.Channels
	err      error
}

func (f *alertFacts) Alerts() (alerts.Set, alerts.Channels) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rules, f.channels
}

func (f *alertFacts) ReadAlertRules(context.Context) (alerts.Set, error) {
	rules, _ := f.Alerts()
	return rules, f.err
}

func (f *alertFacts) ReadAlertChannels(context.Context) (alerts.Channels, error) {
	_, channels := f.Alerts()
	return channels, f.err
}

func (f *alertFacts) UpdateAlertRules(_ context.Context, change func(alerts.Set) (alerts.Set, error)) (alerts.Set, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, err := change(f.rules)
	if err == nil {
		f.rules, err = next, f.err
	}
	return f.rules, err
}

func (f *alertFacts) UpdateAlertChannels(_ context.Context, change func(alerts.Channels) (alerts.Channels, error)) (alerts.Channels, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next, err := change(f.channels)
	if err == nil {
		f.channels, err = next, f.err
	}
	return f.channels, err
}

// sentAlerts answers with its list, and tests any channel but those that are not there.
type sentAlerts struct {
	list    []outbox.Delivery
	service *alertservice.Service
}

func (s *sentAlerts) List() []outbox.Delivery { return s.list }

func (s *sentAlerts) Test(_ context.Context, channel string) (outbox.Try, error) {
	_, all := s.service.Known()
	c, found := all.Find(channel)
	if !found {
		return outbox.Try{}, alerts.ErrNoChannel
	}
	if !c.Enabled {
		return outbox.Try{At: start, Status: 503, Answer: "later", Error: "the receiver answered 503"}, nil
	}
	return outbox.Try{At: start, OK: true, Status: 200}, nil
}

func newAlerts(t testing.TB, facts *alertFacts) *alertservice.Service {
	t.Helper()
	service, err := alertservice.New(facts, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// askAlerts sends a request and reads the data of its answer.
func (b *bench) askAlerts(t *testing.T, key, method, target, body string, into any) (status int, code string) {
	t.Helper()
	r := request{method: method, target: target, key: key, body: body}
	if body != "" {
		r.headers = []string{"Content-Type: application/json"}
	}
	w := b.do(r)
	answer := struct {
		Data  any
		Error struct{ Code string }
	}{Data: into}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s %s: %v\n%s", method, target, body, err, w.Body)
	}
	return w.Code, answer.Error.Code
}

// channel makes a channel and returns its id.
func (b *bench) channel(t *testing.T, key, body string) string {
	t.Helper()
	var made struct{ ID string }
	if status, code := b.askAlerts(t, key, "POST", channelsPath, body, &made); status != http.StatusCreated {
		t.Fatalf("%s: %d %s", body, status, code)
	}
	return made.ID
}

func TestAlertRulesFromMakingToRemoving(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, "Alerts/*")
	to := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	var made, changed alerts.Rule
	body := `{"name":" In production ","environments":["production"],"projects":[1],"levels":["fatal"],"throttle_minutes":10,
		"when":{"new":1,"regressed":true,"reached":{"count":1000},"frequency":{"count":100,"users":5,"minutes":10}},"to":["` + to + `"],"id":"mine"}`
	if status, code := b.askAlerts(t, admin, "POST", rulesPath, body, &made); status != http.StatusCreated {
		t.Fatal(status, code)
	}
	if made.Name != "In production" || !made.Enabled || !made.When.New || !made.When.Regressed || made.When.Reached.Count != 1000 ||
		*made.When.Frequency != (alerts.Frequency{Count: 100, Users: 5, Minutes: 10}) || made.ID == "mine" || made.Projects[0] != 1 {
		t.Errorf("made: %+v", made)
	}
	if status, _ := b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, `{"enabled":0,"when":{"new":true}}`, &changed); status != http.StatusOK ||
		changed.Enabled || changed.When.Frequency != nil || changed.Levels[0] != "fatal" {
		t.Errorf("changed: %d %+v", status, changed)
	}
	// 5.0 is a whole number for JSON.
	if status, code := b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, `{"projects":[1.0],"throttle_minutes":7.00,"when":{"frequency":{"count":9.0,"minutes":5.0}}}`, &changed); status != http.StatusOK ||
		changed.ThrottleMinutes != 7 || changed.Projects[0] != 1 || *changed.When.Frequency != (alerts.Frequency{Count: 9, Minutes: 5}) {
		t.Errorf("with fractions of zero: %d %s %+v", status, code, changed)
	}
	// What was read can be put back.
	var list []json.RawMessage
	if status, _ := b.askAlerts(t, b.key(t, access.AlertsRead), "GET", rulesPath, "", &list); status != http.StatusOK || len(list) != 1 {
		t.Fatalf("list: %d %s", status, list)
	}
	var back json.RawMessage
	if status, code := b.askAlerts(t, admin, "PATCH", rulesPath+"/"+made.ID, string(list[0]), &back); status != http.StatusOK || string(back) != string(list[0]) {
		t.Errorf("put back: %d %s %s, want %s", status, code, back, list[0])
	}
	if status, code := b.askAlerts(t, admin, "DELETE", channelsPath+"/"+to, "", nil); status != 422 || code != "invalid_alert" {
		t.Errorf("a channel in use is removed: %d %s", status, code)
	}
	for _, step := range []struct {
		path   string
		status int
	}{{rulesPath + "/" + made.ID, 200}, {rulesPath + "/" + made.ID, 404}, {channelsPath + "/" + to, 200}, {channelsPath + "/" + to, 404}} {
		if status, code := b.askAlerts(t, admin, "DELETE", step.path, "", nil); status != step.status {
			t.Errorf("DELETE %s: %d %s, want %d", step.path, status, code, step.status)
		}
	}
}

func TestAlertBodiesAreChecked(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, access.AlertsManage)
	to := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	hook := b.channel(t, admin, `{"name":"Hook","kind":"webhook","url":"https://example.com/hook"}`)
	rule := func(members string) string { return `{"name":"x","to":["` + to + `"],` + members + `}` }
	for _, c := range []alertRefusal{
		{rulesPath, ``, 422, "invalid_name", "name"},
		{rulesPath, `{"name":7}`, 400, "invalid_body", "name"},
		{rulesPath, rule(`"when":{}`), 422, "invalid_alert", "when"},
		{rulesPath, rule(`"when":null`), 400, "invalid_body", "when"},
		{rulesPath, rule(`"when":["new"]`), 400, "invalid_body", "when"},
		{rulesPath, rule(`"when":{"neww":true}`), 422, "invalid_alert", "when.neww"},
		{rulesPath, rule(`"when":{"new":true,"New":true}`), 422, "invalid_alert", "when.New"},
		{rulesPath, rule(`"when":{"new":2}`), 422, "invalid_boolean", "when.new"},
		{rulesPath, rule(`"when":{"new":null}`), 400, "invalid_body", "when.new"},
		{rulesPath, rule(`"when":{"reached":null}`), 400, "invalid_body", "when.reached"},
		{rulesPath, rule(`"when":{"reached":{"count":1}}`), 422, "invalid_alert", "when.reached.count"},
		{rulesPath, rule(`"when":{"reached":{"count":-1}}`), 400, "invalid_body", "when.reached.count"},
		{rulesPath, rule(`"when":{"frequency":{"count":5,"minutes":1,"user":2}}`), 422, "invalid_alert", "when.frequency.user"},
		{rulesPath, rule(`"when":{"frequency":{"count":5,"minutes":1.5}}`), 400, "invalid_body", "when.frequency.minutes"},
		{rulesPath, rule(`"when":{"frequency":{"count":5,"minutes":0}}`), 422, "invalid_alert", "when.frequency.minutes"},
		{rulesPath, rule(`"when":{"new":true},"projects":[9]`), 422, "invalid_project", "projects"},
		{rulesPath, rule(`"when":{"new":true},"projects":["shop"]`), 400, "invalid_body", "projects"},
		{rulesPath, rule(`"when":{"new":true},"projects":[null]`), 400, "invalid_body", "projects[]"},
		{rulesPath, rule(`"when":{"new":true},"levels":["loud"]`), 422, "invalid_alert", "levels[0]"},
		{rulesPath, rule(`"when":{"new":true},"throttle_minutes":-1`), 422, "invalid_alert", "throttle_minutes"},
		{rulesPath, `{"name":"x","when":{"new":true},"to":["channel-gone"]}`, 422, "invalid_alert", "to[0]"},
		{rulesPath, `{"name":"x","when":{"new":true}}`, 422, "invalid_alert", "to"},
		{rulesPath + "/rule-gone", `{}`, 404, "not_found", ""},
		{channelsPath, `{"name":"x","kind":"pigeon"}`, 422, "invalid_alert", "kind"},
		{channelsPath, `{"name":"x","kind":7}`, 400, "invalid_body", "kind"},
		{channelsPath, `{"name":"x","kind":"email"}`, 422, "invalid_alert", "addresses"},
		{channelsPath, `{"name":"x","kind":"slack","url":"https://hooks.slack.com/…"}`, 422, "invalid_alert", "url"},
		{channelsPath, `{"name":"x","kind":"webhook","url":"https://h","secret":"short"}`, 422, "invalid_alert", "secret"},
		{channelsPath + "/" + hook, `{"kind":"slack"}`, 422, "invalid_alert", "kind"},
		{channelsPath + "/channel-gone", `{}`, 404, "not_found", ""},
	} {
		c.check(t, b, admin)
	}
	if rules, channels := b.alerts.Alerts(); len(rules) != 0 || len(channels) != 2 {
		t.Errorf("after refusals: %+v %+v", rules, channels)
	}
}

func TestAlertsWithoutTheLog(t *testing.T) {
	b := newBench(t, nil)
	b.alerts.err = errata.Errorf(errata.KindLogUnavailable, "The log does not answer.")
	all := b.key(t, "Alerts/*")
	for _, r := range []request{
		{method: "GET", target: rulesPath}, {method: "GET", target: channelsPath}, {method: "POST", target: rulesPath + "/x/test"},
		{method: "POST", target: channelsPath, body: `{"name":"Hook","kind":"webhook","url":"https://example.com/hook"}`},
	} {
		if status, code := b.askAlerts(t, all, r.method, r.target, r.body, nil); status != http.StatusServiceUnavailable || code != "log_unavailable" {
			t.Errorf("%s %s without the log: %d %s", r.method, r.target, status, code)
		}
	}
}

// secretTexts are what no answer and no line of the log may show.
var secretTexts = []string{"T0/B0/slackcapability", "botcapability", "tk_ntfytoken", "c2VjcmV0IHRoYXQgc2lnbnMgbWVzc2FnZXMgMzI="}

// TestSecretsOfChannelsAreNeverAnswered: not by the answer that makes a channel, a list, a
// change, a refusal or the log; only a secret that the service makes is answered, once.
func TestSecretsOfChannelsAreNeverAnswered(t *testing.T) {
	b := newBench(t, nil)
	admin := b.key(t, "Alerts/*")
	var answers strings.Builder
	ask := func(method, path, body string) string {
		t.Helper()
		w := b.do(request{method: method, target: path, key: admin, body: body, headers: []string{"Content-Type: application/json"}})
		answers.WriteString(w.Body.String())
		return w.Body.String()
	}
	var ids []string
	for _, body := range []string{
		`{"name":"Slack","kind":"slack","url":"https://hooks.slack.com/services/T0/B0/slackcapability"}`,
		`{"name":"Telegram","kind":"telegram","url":"https://api.telegram.org/botcapability","secret":"botcapability","chat":"@ops"}`,
		`{"name":"Ntfy","kind":"ntfy","url":"https://ntfy.example/topic","secret":"tk_ntfytoken"}`,
		`{"name":"Own secret","kind":"webhook","url":"https://example.com/hook","secret":"whsec_c2VjcmV0IHRoYXQgc2lnbnMgbWVzc2FnZXMgMzI="}`,
	} {
		var made struct {
			Data struct{ ID, Secret string }
		}
		if err := json.Unmarshal([]byte(ask("POST", channelsPath, body)), &made); err != nil || made.Data.ID == "" || made.Data.Secret != "" {
			t.Fatalf("%s: %+v %v", body, made, err)
		}
		ids = append(ids, made.Data.ID)
		ask("PATCH", channelsPath+"/"+made.Data.ID, `{"name":"changed","secret":"whsec_c2VjcmV0IHRoYXQgc2lnbnMgbWVzc2FnZXMgMzI="}`)
		ask("PATCH", channelsPath+"/"+made.Data.ID, `{"url":"ftp://T0/B0/slackcapability"}`)
		ask("POST", channelsPath+"/"+made.Data.ID+"/test", "")
	}
	ask("GET", channelsPath, "")
	ask("GET", deliveriesPath, "")
	for _, secret := range append(secretTexts, "sealed") {
		if strings.Contains(answers.String(), secret) || strings.Contains(b.log.String(), secret) {
			t.Errorf("%s is shown:\n%s\n%s", secret, answers.String(), b.log)
		}
	}
	var made struct{ ID, Secret string }
	b.askAlerts(t, admin, "POST", channelsPath, `{"name":"Hook","kind":"webhook","url":"https://example.com/hook"}`, &made)
	if _, err := alerts.SigningKey(made.Secret); err != nil || strings.Contains(ask("GET", channelsPath, ""), made.Secret) {
		t.Errorf("the secret %q of a new webhook: %v", made.Secret, err)
	}

	// A URL that is sent back as it was shown stays what it is, and so does what is sealed.
	_, before := b.alerts.Alerts()
	ask("PATCH", channelsPath+"/"+ids[0], `{"url":"https://hooks.slack.com/…","enabled":false}`)
	_, after := b.alerts.Alerts()
	was, _ := before.Find(ids[0])
	is, _ := after.Find(ids[0])
	if is.Enabled || !slices.Equal(was.Sealed, is.Sealed) {
		t.Errorf("after its url was put back: %+v, before %+v", is, was)
	}
}

func TestAlertTests(t *testing.T) {
	b := newBench(t, nil)
	admin := b.key(t, "Alerts/*")
	one := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	off := b.channel(t, admin, `{"name":"Off","kind":"email","addresses":["off@example.com"],"enabled":false}`)
	var rule struct{ ID string }
	b.askAlerts(t, admin, "POST", rulesPath, `{"name":"x","when":{"new":true},"to":["`+one+`","`+off+`"]}`, &rule)
	var got json.RawMessage
	ok, failed := `"at":"2026-11-21T03:58:25.123Z","ok":true,"status":200,"answer":"","error":""}`, `"at":"2026-11-21T03:58:25.123Z","ok":false,"status":503,"answer":"later","error":"the receiver answered 503"}`
	for path, want := range map[string]string{
		channelsPath + "/" + one + "/test":  `{` + ok,
		channelsPath + "/" + off + "/test":  `{` + failed,
		rulesPath + "/" + rule.ID + "/test": `[{"channel":"` + one + `","channel_name":"On call",` + ok + `,{"channel":"` + off + `","channel_name":"Off",` + failed + `]`,
	} {
		if status, code := b.askAlerts(t, admin, "POST", path, "", &got); status != 200 || string(got) != want {
			t.Errorf("%s: %d %s %s\nwant %s", path, status, code, got, want)
		}
	}
	for _, path := range []string{channelsPath + "/gone/test", rulesPath + "/gone/test"} {
		if status, code := b.askAlerts(t, admin, "POST", path, "", nil); status != 404 {
			t.Errorf("%s: %d %s", path, status, code)
		}
	}
}

func TestDeliveriesAreListedByFilter(t *testing.T) {
	b := newBench(t, nil)
	admin := b.key(t, "Alerts/*")
	one := b.channel(t, admin, `{"name":"On call","kind":"email","addresses":["oncall@example.com"]}`)
	failed := outbox.Try{At: start, Status: 500, Answer: "no", Error: "the receiver answered 500"}
	b.sent.list = []outbox.Delivery{
		{ID: "msg_3", Rule: "rule-a", Channel: one, Made: start, Fired: 2, Subject: "new: X", State: outbox.Waiting, Tries: 1, Next: start.Add(time.Second), Last: []outbox.Try{failed}},
		{ID: "msg_2", Rule: "rule-b", Channel: "gone", Made: start, Fired: 1, State: outbox.Failed, Tries: 9, Last: []outbox.Try{failed}, Message: &alerts.Message{RuleName: "body of a message"}},
		{ID: "msg_1", Rule: "rule-a", Channel: "gone", Made: start, Fired: 1, State: outbox.Sent, Tries: 1, Last: []outbox.Try{}},
	}
	reader := b.key(t, access.AlertsRead)
	for query, want := range map[string]string{
		"": "msg_3 msg_2 msg_1", "?limit=2": "msg_3 msg_2", "?rule=rule-a": "msg_3 msg_1", "?channel=gone": "msg_2 msg_1", "?state=FAILED": "msg_2",
		"?rule=rule-a&state=sent&limit=1000": "msg_1", "?rule=nobody": "", "?state=": "msg_3 msg_2 msg_1",
	} {
		var list []struct{ ID string }
		status, code := b.askAlerts(t, reader, "GET", deliveriesPath+query, "", &list)
		var got []string
		for _, d := range list {
			got = append(got, d.ID)
		}
		if status != 200 || strings.Join(got, " ") != want {
			t.Errorf("%s: %d %s %v, want %s", query, status, code, got, want)
		}
	}
	for query, want := range map[string]string{"?limit=0": "invalid_limit", "?limit=1001": "invalid_limit", "?state=lost": "invalid_status", "?rules=a": "unknown_parameter"} {
		if status, code := b.askAlerts(t, reader, "GET", deliveriesPath+query, "", nil); status != 422 || code != want {
			t.Errorf("%s: %d %s, want %s", query, status, code, want)
		}
	}
	golden(t, "alert_deliveries", b.do(request{method: "GET", target: deliveriesPath + "?state=failed", key: reader}))
}
