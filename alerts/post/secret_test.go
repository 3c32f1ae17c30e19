package post

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

const (
	pathSecret  = "T0AAAA/B0BBBBBB/s3cr3tP4thV4lue"
	querySecret = "s3cr3t+Query/Va1ue="
	tokenSecret = "123456:s3cr3t-T0ken_value"
	keySecret   = "whsec_czNjcjN0LXNpZ25pbmcta2V5LW9mLTMyLWJ5dGVzISE="
)

// shown are the parts of secrets that must not be in any outcome.
var shown = []string{"s3cr3t", "B0BBBBBB", "czNjcjN0", "v1,"}

// secretRequests are one message of each kind that has secrets.
func secretRequests(t *testing.T, base string) (all []render.Request) {
	t.Helper()
	path := base + "/hooks/" + pathSecret + "?sig=" + url.QueryEscape(querySecret)
	for _, channel := range []alerts.Channel{
		{Kind: alerts.Webhook, URL: path, Secret: keySecret}, {Kind: alerts.Slack, URL: path}, {Kind: alerts.Discord, URL: path},
		{Kind: alerts.Teams, URL: path}, {Kind: alerts.Mattermost, URL: path}, {Kind: alerts.Telegram, URL: base, Secret: tokenSecret, Chat: "1"},
		{Kind: alerts.Telegram, URL: base + "/bot" + tokenSecret, Chat: "1"}, {Kind: alerts.Ntfy, URL: base + "/s3cr3t", Secret: "tk_s3cr3tTokenOfNtfy"},
	} {
		r, err := render.Render(channel, alerts.Message{ID: "msg_1", Test: true}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func noSecrets(t *testing.T, what string, r render.Request, o Outcome) {
	t.Helper()
	text := fmt.Sprintf("%+v", o)
	encoded, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range shown {
		if strings.Contains(text, secret) || strings.Contains(string(encoded), secret) {
			t.Errorf("%s, %s shows %s: %s", what, r.Kind, secret, text)
		}
	}
	if len(o.Answer) > 300 || len(o.Err) > 300 {
		t.Errorf("%s, %s: %d and %d bytes", what, r.Kind, len(o.Answer), len(o.Err))
	}
}

// A receiver that answers with what it was sent, in any form, shows no secret.
func TestAnswersShowNoSecrets(t *testing.T) {
	for name, echo := range map[string]func(*http.Request, string) string{
		"path":    func(r *http.Request, _ string) string { return "Cannot POST " + r.URL.Path },
		"uri":     func(r *http.Request, _ string) string { return "Cannot POST " + r.RequestURI },
		"query":   func(r *http.Request, _ string) string { return "wrong sig " + r.URL.Query().Get("sig") },
		"HTML":    func(r *http.Request, _ string) string { return "<pre>" + html.EscapeString(r.RequestURI) + "</pre>" },
		"PHP":     func(r *http.Request, _ string) string { return strings.ReplaceAll(r.URL.Path, "/", `\/`) },
		"escaped": func(r *http.Request, _ string) string { return url.QueryEscape(r.URL.Path) },
		"headers": func(r *http.Request, _ string) string { return fmt.Sprint(r.Header) },
		"body":    func(_ *http.Request, body string) string { return body },
		"at the cut": func(r *http.Request, _ string) string {
			return strings.Repeat("x", 290) + r.URL.Path + strings.Repeat("y", 200)
		},
		"at the end of what is read": func(r *http.Request, _ string) string {
			return strings.Repeat("\n", maxResponse-len(r.URL.Path)+4) + r.URL.Path
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, sender := receiver(t, true, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Location", r.RequestURI)
				w.WriteHeader(map[bool]int{true: 302, false: 500}[strings.HasPrefix(name, "p")])
				_, _ = io.WriteString(w, echo(r, string(body)))
			})
			for _, r := range secretRequests(t, server.URL) {
				noSecrets(t, name, r, sender.Send(t.Context(), r))
			}
		})
	}
}

// A secret that begins with another one is hidden as a whole.
func TestTheLongestSecretIsHidden(t *testing.T) {
	v := newVeil(render.Request{URL: "https://a.example/", Secrets: []string{"abcd", "abcdefgh", "x"}})
	if got := v.line("x abcdefgh, abcd and abcdef"); got != "x ***, *** and ***ef" {
		t.Errorf("got %q", got)
	}
}

// No failure of a connection shows what stands in the URL.
func TestFailuresShowNoSecrets(t *testing.T) {
	closedServer := httptest.NewTLSServer(http.NotFoundHandler())
	closedServer.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	strange, dns := rawServer(t), &dnsDouble{answers: [][]string{{}}}
	unknown := httptest.NewUnstartedServer(http.NotFoundHandler())
	unknown.Config.ErrorLog = quiet()
	unknown.StartTLS()
	t.Cleanup(unknown.Close)
	allow := []string{"127.0.0.1"}
	for name, c := range map[string]struct {
		base string
		cfg  Config
	}{
		"refused":             {closedServer.URL, Config{AllowHosts: allow}},
		"no TLS":              {"https://" + plain.Listener.Addr().String(), Config{AllowHosts: allow}},
		"unknown certificate": {unknown.URL, Config{AllowHosts: allow}},
		"no HTTP":             {"http://" + strange, Config{AllowHosts: allow}},
		"closed address":      {unknown.URL, Config{}},
		"clear text":          {plain.URL, Config{}},
		"no such name":        {"https://nowhere.example", Config{Resolver: dns.resolver()}},
	} {
		sender, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range secretRequests(t, c.base) {
			o := sender.Send(t.Context(), r)
			if o.OK || o.Err == "" || o.Permanent {
				t.Errorf("%s, %s: %+v", name, r.Kind, o)
			}
			noSecrets(t, name, r, o)
		}
	}
	sender, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "https://", "ftp://x/s3cr3t", "https://exa mple/s3cr3t", "://s3cr3t", "https://[::1/s3cr3t", "https://x/\x7fs3cr3t"} {
		if o := sender.Send(t.Context(), hook(bad)); o.OK || strings.Contains(o.Err, "s3cr3t") {
			t.Errorf("%q: %+v", bad, o)
		}
	}
}

// rawServer answers each request with its first line, which is no HTTP.
func rawServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = io.WriteString(conn, line+"\r\n")
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}
