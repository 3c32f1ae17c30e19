package contract

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

const alertsPath = "/api/v1/admin/alerts"

// hook is a receiver of webhooks that keeps what it is sent.
type hook struct {
	*httptest.Server
	sent chan webhook
}

type webhook struct {
	header http.Header
	body   string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{sent: make(chan webhook, 16)} // more than a test sends
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.sent <- webhook{r.Header, string(body)}
		_, _ = io.WriteString(w, "thanks for "+r.Header.Get("webhook-signature"))
	}))
	t.Cleanup(h.Close)
	return h
}

// next waits for a webhook of the type, and checks its signature as docs/alerts.md says.
func (h *hook) next(t *testing.T, secret, kind string) webhook {
	t.Helper()
	select {
	case got := <-h.sent:
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, got.header.Get("webhook-id")+"."+got.header.Get("webhook-timestamp")+"."+got.body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.header.Get("webhook-signature") != want {
			t.Errorf("signed %q, want %q", got.header.Get("webhook-signature"), want)
		}
		if !strings.HasPrefix(got.body, `{"type":"`+kind+`"`) {
			t.Errorf("got %s, want type %s", got.body, kind)
		}
		return got
	case <-time.After(servicetest.RequestTimeout):
		t.Fatalf("no webhook %s came", kind)
		return webhook{}
	}
}

// made is what an answer names of something new.
type made struct{ ID, Secret string }

func (s *service) makeAlert(t *testing.T, route, body string) (m made) {
	t.Helper()
	a := s.do(t, request{method: http.MethodPost, path: alertsPath + route, body: body})
	if err := json.Unmarshal([]byte(a.body), &struct{ Data *made }{&m}); err != nil || a.status != http.StatusCreated {
		t.Fatalf("%s: %d %s %v", body, a.status, a.body, err)
	}
	return m
}

// TestAlerts: a rule and a channel are made, the channel is tested, an error fires the
// rule and is told once, signed; a restart knows them and tells nothing again; every change
// is in the audit trail, and no secret is in an answer.
func TestAlerts(t *testing.T) {
	t.Parallel()
	receiver := newHook(t)
	at, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	allow := func(o *app.Options) {
		o.AlertAllowHosts, o.AdminRateLimit = []string{at.Host}, 0 // the test asks again and again for deliveries
	}
	s := start(t, allow)
	channel := s.makeAlert(t, "/channels", `{"name":"Incidents","kind":"webhook","url":"`+receiver.URL+`/hook"}`)
	rule := s.makeAlert(t, "/rules", `{"name":"Anything new","when":{"new":true},"to":["`+channel.ID+`"]}`)
	s.want(t, request{method: http.MethodPost, path: alertsPath + "/channels/" + channel.ID + "/test"}, "")
	receiver.next(t, channel.Secret, "error.test")
	tested := s.want(t, request{method: http.MethodPost, path: alertsPath + "/rules/" + rule.ID + "/test"}, "")
	receiver.next(t, channel.Secret, "error.test")
	if !strings.Contains(tested, `"ok":true,"status":200,"answer":"thanks for ***"`) {
		t.Errorf("the test of the rule: %s", tested)
	}

	sent := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.File(t, "keys/ingest.key"), body: `[{"message":"order failed","exception_class":"OrderError"},{"message":"order failed","exception_class":"OrderError"}]`})
	if sent.status != http.StatusAccepted {
		t.Fatal(sent.body)
	}
	told := receiver.next(t, channel.Secret, "error.new")
	if !strings.Contains(told.body, `"class":"OrderError"`) || !strings.Contains(told.body, `"name":"Anything new"`) || !strings.Contains(told.body, `"fired":1,`) {
		t.Errorf("told: %s", told.body)
	}
	delivery := s.delivered(t)
	if delivery.ID != told.header.Get("webhook-id") || delivery.RuleName != "Anything new" || delivery.ChannelName != "Incidents" || delivery.Subject != "new: OrderError" {
		t.Errorf("delivery: %+v", delivery)
	}

	// The rest of what may be asked, and what is refused.
	s.want(t, request{method: http.MethodPatch, path: alertsPath + "/channels/" + channel.ID, body: `{"name":"Incidents, all"}`}, "")
	s.want(t, request{method: http.MethodPatch, path: alertsPath + "/rules/" + rule.ID, body: `{"when":{"frequency":{"count":1000,"minutes":5}}}`}, "")
	s.refusedAlerts(t, channel.ID)

	before := s.get(t, alertsPath+"/rules") + s.get(t, alertsPath+"/channels")
	s.alertsOnRecord(t, channel.Secret, before)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := &service{servicetest.Start(t, s.Data, allow), s.now, 0}
	if after := again.get(t, alertsPath+"/rules") + again.get(t, alertsPath+"/channels"); after != before {
		t.Errorf("after a restart:\n got %s\nwant %s", after, before)
	}
	again.want(t, request{method: http.MethodPost, path: alertsPath + "/channels/" + channel.ID + "/test"}, "")
	receiver.next(t, channel.Secret, "error.test") // and not error.new once more
}

// alertsOnRecord checks the audit trail and the metrics, and that no secret is in an answer.
func (s *service) alertsOnRecord(t *testing.T, secret, lists string) {
	t.Helper()
	trail := s.get(t, "/api/v1/admin/audit?action=alerts.*")
	for _, entry := range []string{`"action":"alerts.channel.create"`, `"action":"alerts.rule.create"`, `"action":"alerts.channel.update"`, `"action":"alerts.rule.update"`, `"scope":"Alerts/Manage"`, "Anything new", "Incidents, all"} {
		if !strings.Contains(trail, entry) {
			t.Errorf("the trail lacks %s: %s", entry, trail)
		}
	}
	for _, hidden := range []string{secret, "sealed"} {
		if strings.Contains(trail+lists+s.get(t, alertsPath+"/deliveries"), hidden) {
			t.Errorf("%s is shown: %s %s", hidden, trail, lists)
		}
	}
	metrics := s.do(t, request{method: http.MethodGet, path: "/metrics"}).body
	for _, line := range []string{"errata_alerts_messages_total 1\n", `errata_alerts_deliveries_total{state="sent"} 1`, `errata_alerts_deliveries_total{state="failed"} 0`, "errata_alerts_waiting 0\n"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// deliveryMade is a delivery in an answer.
type deliveryMade struct {
	ID, Subject string
	RuleName    string `json:"rule_name"`
	ChannelName string `json:"channel_name"`
}

// delivered waits until the one delivery is sent: it is noted after the receiver has it.
func (s *service) delivered(t *testing.T) deliveryMade {
	t.Helper()
	late := time.Now().Add(servicetest.RequestTimeout)
	for {
		var list []deliveryMade
		text := s.get(t, alertsPath+"/deliveries?state=sent")
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 {
			return list[0]
		}
		if time.Now().After(late) {
			t.Fatalf("deliveries: %s", s.get(t, alertsPath+"/deliveries"))
		}
	}
}

// refusedAlerts asks for what must be refused.
func (s *service) refusedAlerts(t *testing.T, channel string) {
	t.Helper()
	key := s.do(t, request{method: http.MethodPost, path: keysPath, body: `{"name":"limited","kind":"adm","scopes":["*"],"projects":[1]}`})
	var limited struct{ Data struct{ Key string } }
	if err := json.Unmarshal([]byte(key.body), &limited); err != nil || limited.Data.Key == "" {
		t.Fatal(key.body)
	}
	for code, r := range map[string]request{
		"key_is_limited": {method: http.MethodGet, path: alertsPath + "/rules", key: limited.Data.Key},
		"invalid_alert":  {method: http.MethodDelete, path: alertsPath + "/channels/" + channel},
		"not_found":      {method: http.MethodPost, path: alertsPath + "/rules/rule-gone/test"},
		"invalid_limit":  {method: http.MethodGet, path: alertsPath + "/deliveries?limit=5000"},
	} {
		if a := s.do(t, r); !strings.Contains(a.body, `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s, want %s", r, a.status, a.body, code)
		}
	}
}
