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
		{ID: "rule-b5qx2z7m4n6a3b2c", Name: "Projects", Enabled: true, When: map[string]json.RawMessage{"spike": nil, "quiet": nil}, To: []string{"a"}},
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

// changeAlerts switches a rule off and on, and deletes it; a channel that a rule sends to stays.
func changeAlerts(t *testing.T, alerts func(args ...string) outcome, made func(args ...string) string, channel string) {
	t.Helper()
	rule := made("rules", "add", "Off", "--new", "--regressed", "--frequency", "100", "--frequency-minutes", "10", "--frequency-users", "5",
		"--search", "order", "--environments", "production", "--throttle-minutes", "60", "--disabled", "--to", channel)
	for _, step := range []struct {
		args      []string
		code      int
		out, want string // want is in the list of rules afterwards
	}{
		{[]string{"rules", "enable", rule}, exitOK, "enabled " + rule + "\n", rule + ` +on +new, regressed, frequency`},
		{[]string{"rules", "disable", rule, "rule-gone"}, exitFailed, "disabled " + rule + "\n", rule + " +off"},
		{[]string{"channels", "rm", channel}, exitFailed, "", rule},
		{[]string{"rules", "delete", rule, "--json"}, exitOK, `[{"deleted":true,"id":"` + rule + "\"}]\n", "Never"},
	} {
		if got := alerts(step.args...); got.code != step.code || got.out != step.out {
			t.Errorf("%v: %+v, want %d and %q", step.args, got, step.code, step.out)
		}
		if got := alerts("rules"); !regexp.MustCompile(step.want).MatchString(got.out) {
			t.Errorf("after %v the rules are\n%s", step.args, got.out)
		}
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
	made := func(args ...string) string {
		got := alerts(args...)
		if got.code != exitOK || !regexp.MustCompile(`^(rule|channel)-[a-z0-9]+\n$`).MatchString(got.out) {
			t.Fatalf("%v: %+v", args, got)
		}
		return strings.TrimSpace(got.out)
	}
	channel := made("channels", "create", "Hook", "--kind", "webhook", "--channel-url", receiver.URL)
	rule := made("rules", "create", "Never", "--reached", "1000000", "--to", channel, "--projects", "1,default", "--levels", "error,fatal", "--types", "system")
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
	changeAlerts(t, alerts, made, channel)
	if got := alerts("test", channel); got.code != exitFailed || got.out != "not sent\n" || !strings.Contains(got.err, "https://") {
		t.Errorf("test: %+v, want a refusal of clear text", got)
	}
	for want, args := range map[string][]string{"not_found": {"test", "channel-gone"}, "invalid_limit": {"deliveries", "--limit", "0"}} {
		if got := alerts(args...); got.code != exitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%v: %+v, want a failure with %s", args, got, want)
		}
	}
	for want, args := range map[string][]string{
		channel: {"test", "channel-"}, channel + "\n:4": {"rules", "create", "x", "--to", "channel-"}, rule: {"rules", "rm", "rule-"}, "default": {"rules", "create", "x", "--projects", "def"},
	} {
		last := len(args) - 1
		line := append(append([]string{"__complete", "alerts", args[0]}, at...), args[1:last]...)
		if got := command(t, nil, append(line, args[last])...); !strings.Contains(got.out, want+"\n") {
			t.Errorf("completion of %v: %+v", args, got)
		}
	}
}
