package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// echoService takes what is created, and notes the bodies.
func echoService(t *testing.T) (at []string, sent *[]string) {
	t.Helper()
	sent = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == projectsPath+"/shop" {
			fmt.Fprint(w, `{"data":{"id":7,"slug":"shop"}}`)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*sent = append(*sent, string(body))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"data":{"id":"made-1","name":"a\\u001b[31m","secret":"whsec_new"}}`)
	}))
	t.Cleanup(server.Close)
	return []string{"--url", server.URL, "--key", "k"}, sent
}

// TestCreateAlerts: each flag is its field of the request, and no other one is sent.
func TestCreateAlerts(t *testing.T) {
	at, sent := echoService(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("tk_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input, args, want string
	}{
		{"", "rules create r --new --to a,b", `{"name":"r","enabled":true,"when":{"new":true},"to":["a","b"]}`},
		{"", "rules create r --regressed --reached 9 --to a --disabled", `{"name":"r","enabled":false,"when":{"reached":{"count":9},"regressed":true},"to":["a"]}`},
		{"", "rules add r --frequency 100 --frequency-minutes 10 --to a", `{"name":"r","enabled":true,"when":{"frequency":{"count":100,"minutes":10}},"to":["a"]}`},
		{"", "rules create r --frequency 100 --frequency-minutes 10 --frequency-users 5 --to a", `{"name":"r","enabled":true,"when":{"frequency":{"count":100,"minutes":10,"users":5}},"to":["a"]}`},
		{"", "rules create r --spike 5 --spike-minutes 60 --quiet 120 --to a", `{"name":"r","enabled":true,"when":{"quiet":{"minutes":120},"spike":{"factor":5,"minutes":60}},"to":["a"]}`},
		{"", "rules create r --new --to a --projects 3,shop --environments e --levels error,fatal --types system --signatures 00ff --search s --throttle-minutes 5",
			`{"name":"r","enabled":true,"projects":[3,7],"environments":["e"],"levels":["error","fatal"],"books":["system"],"signatures":["00ff"],"search":"s","when":{"new":true},"throttle_minutes":5,"to":["a"]}`},
		{"", "channels create c --kind email --addresses a@example.com,b@example.com", `{"name":"c","kind":"email","enabled":true,"addresses":["a@example.com","b@example.com"]}`},
		{"https://example.com/in\n", "channels add c --kind slack --channel-url -", `{"name":"c","kind":"slack","enabled":true,"url":"https://example.com/in"}`},
		{"", "channels create c --kind ntfy --channel-url https://ntfy.sh/x --secret @" + secret, `{"name":"c","kind":"ntfy","enabled":true,"url":"https://ntfy.sh/x","secret":"tk_file"}`},
		{"123:x", "channels create c --kind telegram --channel-url https://api.telegram.org --secret - --chat @ops --disabled",
			`{"name":"c","kind":"telegram","enabled":false,"url":"https://api.telegram.org","secret":"123:x","chat":"@ops"}`},
	} {
		*sent = nil
		got := commandWithInput(t, c.input, nil, append(append([]string{"alerts"}, strings.Fields(c.args)...), at...)...)
		if got.code != exitOK || got.out != "made-1\n" || strings.Join(*sent, "\n") != c.want {
			t.Errorf("%s: %+v, sent\n%s, want\n%s", c.args, got, *sent, c.want)
		}
		if bad, found := unsafe(got.err); found || !strings.Contains(got.err, "whsec_new") || strings.Contains(got.err, "tk_file") || strings.Contains(got.err, "123:x") {
			t.Errorf("%s tells %q (%U)", c.args, got.err, bad)
		}
	}
	if got := command(t, nil, append([]string{"alerts", "rules", "create", "r", "--new", "--to", "a", "--json"}, at...)...); !strings.HasPrefix(got.out, `{"id":"made-1"`) {
		t.Errorf("as JSON: %+v", got)
	}
}

// TestCreateAlertsMistakes: what cannot be meant is refused before anything is sent, and no
// secret is shown.
func TestCreateAlertsMistakes(t *testing.T) {
	at, sent := echoService(t)
	for _, c := range []struct{ input, args, want string }{
		{"", "rules create r --to a", "--new, --regressed, --reached, --frequency, --spike or --quiet"},
		{"", "rules create r --new --frequency-minutes 5 --to a", "belong to --frequency"},
		{"", "rules create r --new --spike-minutes 5 --to a", "belongs to --spike"},
		{"", "rules create --new", "arg"},
		{"", "rules enable", "arg"},
		{"", "rules nonsense", "nonsense"},
		{"hush\nhush2\n", "channels create c --kind slack --channel-url -", "--channel-url: want one line"},
		{"\n", "channels create c --kind ntfy --secret -", "--secret: want one line"},
		{"hush", "channels create c --kind ntfy --secret - --channel-url -", "only one of"},
		{"", "channels create c --kind ntfy --secret @/nowhere", "/nowhere"},
	} {
		got := commandWithInput(t, c.input, nil, append(append([]string{"alerts"}, strings.Fields(c.args)...), at...)...)
		if got.code != exitUsage || got.out != "" || !strings.Contains(got.err, c.want) || strings.Contains(got.err, "hush") {
			t.Errorf("%s: %+v, want a usage error with %q", c.args, got, c.want)
		}
	}
	if len(*sent) > 0 {
		t.Errorf("sent %q", *sent)
	}
}

// TestCompletionOfAlerts: values that are known complete.
func TestCompletionOfAlerts(t *testing.T) {
	for args, want := range map[string]string{
		"alerts channels create c --kind t": "webhook\nemail\nslack\ndiscord\nteams\nmattermost\ntelegram\nntfy\n:",
		"alerts rules create r --levels f":  "debug\ninfo\n",
		"alerts rules create r --types d":   "system\ndatabase\n:",
		"alerts rules cr":                   "create\t",
	} {
		if got := command(t, nil, append([]string{"__complete"}, strings.Fields(args)...)...); !strings.HasPrefix(got.out, want) {
			t.Errorf("%s: %q, want %q", args, got.out, want)
		}
	}
}
