package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestAlertTables: what the lists look like, at some widths; no text of an application
// changes the terminal.
func TestAlertTables(t *testing.T) {
	rules := []apiRule{
		{ID: "rule-k5qx2z7m4n6a3b2c", Name: "New in production", Enabled: true, When: map[string]json.RawMessage{"regressed": nil, "new": nil}, To: []string{"a", "b"}},
		{ID: "rule-a5qx2z7m4n6a3b2c", Name: "Flood", When: map[string]json.RawMessage{"frequency": nil}, To: []string{"a"}},
	}
	channels := []apiChannel{
		{ID: "channel-a2b3c4d5e6f7g2h3", Name: "On call", Kind: "email", Enabled: true, Addresses: []string{"oncall@example.com", "lead@example.com"}},
		{ID: "channel-b2b3c4d5e6f7g2h3", Name: "Team", Kind: "slack", URL: "https://hooks.slack.com/…"},
	}
	deliveries := []apiDelivery{
		{Made: "2026-11-21T03:58:25.123Z", State: "waiting", Tries: 2, RuleName: "Flood", ChannelName: "Team", Subject: "frequency: \x1b[31mOrderError", Last: []apiTried{{Error: "the receiver answered 500"}}},
		{Made: "2026-11-21T03:57:25.123Z", State: "sent", Tries: 1, Rule: "rule-gone", Channel: "channel-gone", Subject: "new: OrderError", Last: []apiTried{{OK: true}}},
	}
	for name, width := range map[string]int{"alerts": 0, "alerts-80": 80, "alerts-40": 40} {
		var out strings.Builder
		for _, err := range []error{printRules(&out, width, rules), printChannels(&out, width, channels), printDeliveries(&out, width, deliveries)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if bad, found := unsafe(out.String()); found {
			t.Errorf("a table has %U:\n%s", bad, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := cells(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("a line of %d cells, want at most %d: %q", n, width, line)
			}
		}
		golden(t, name, out.String())
	}
}

// useAlerts makes a channel and a rule at a real service, and lists and tests them.
func useAlerts(t *testing.T, s *service, data string) {
	at := []string{"--data", data}
	alerts := func(args ...string) outcome {
		return command(t, nil, append(append([]string{"alerts"}, args...), at...)...)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a message came to an address of this machine") }))
	defer receiver.Close()
	key := "-H 'Authorization: Bearer '$(cat " + shellQuote(data+"/keys/admin.key") + ")"
	post := func(route, body string) string {
		answer := shell(t, "curl -sS "+s.url+alertsPath+route+" "+key+" -H 'Content-Type: application/json' -d '"+body+"'")
		made := regexp.MustCompile(`"id":"([a-z0-9-]+)"`).FindStringSubmatch(answer)
		if made == nil {
			t.Fatalf("%s %s: %s", route, body, answer)
		}
		return made[1]
	}
	channel := post("/channels", `{"name":"Hook","kind":"webhook","url":"`+receiver.URL+`"}`)
	rule := post("/rules", `{"name":"Never","when":{"reached":{"count":1000000}},"to":["`+channel+`"]}`)
	for want, got := range map[string]outcome{
		rule + " +on +reached +1 +Never":                alerts("rules"),
		channel + " +webhook +on +http://127\\S+ +Hook": alerts("channels"),
		`^\[\]\n$`:         alerts("deliveries", "--rule", rule, "--state", "failed", "--json"),
		`"id":"` + channel: alerts("channels", "--json"),
	} {
		if got.code != exitOK || !regexp.MustCompile(want).MatchString(got.out) {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	if got := alerts("test", channel); got.code != exitFailed || got.out != "not sent\n" || !strings.Contains(got.err, "https://") {
		t.Errorf("test: %+v, want a refusal of clear text", got)
	}
	for want, args := range map[string][]string{"not_found": {"test", "channel-gone"}, "invalid_limit": {"deliveries", "--limit", "0"}} {
		if got := alerts(args...); got.code != exitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v, want a failure with %s", args, got, want)
		}
	}
	if got := command(t, nil, append([]string{"__complete", "alerts", "test"}, append(at, "channel-")...)...); !strings.Contains(got.out, channel+"\n") {
		t.Errorf("completion of a channel: %+v", got)
	}
}
