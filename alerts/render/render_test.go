package render_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
)

var update = flag.Bool("update", false, "write the golden files")

var now = time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)

func mustRender(t testing.TB, channel alerts.Channel, m alerts.Message) render.Request {
	t.Helper()
	r, err := render.Render(channel, m, now)
	if err != nil {
		t.Fatalf("%s: %v", channel.Kind, err)
	}
	return r
}

// show is a request as a golden file has it.
func show(t *testing.T, r render.Request) []byte {
	t.Helper()
	if r.Kind == alerts.Email {
		return fmt.Appendf(nil, "To: %s\nSubject: %s\n\n%s\n%s", strings.Join(r.Mail.To, ", "), r.Mail.Subject, r.Mail.Text, r.Mail.HTML)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s\n", r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(&b, "%s: %s\n", name, r.Header[name])
	}
	b.WriteByte('\n')
	if err := json.Indent(&b, r.Body, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	trial := messageOf()
	trial.Test = true
	for _, channel := range channels {
		for name, m := range map[string]alerts.Message{
			"one": messageOf(sample()), "many": many(), "test": trial, "spike": messageOf(spiked(sample())), "quiet": messageOf(quiet()),
		} {
			t.Run(string(channel.Kind)+"-"+name, func(t *testing.T) {
				r := mustRender(t, channel, m)
				checkAll(t, r, m)
				got, file := show(t, r), filepath.Join("testdata", string(channel.Kind)+"-"+name+".golden")
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s differs; look at it and run with -update\n%s", file, got)
				}
			})
		}
	}
}

// A receiver checks the signature with the key and the bytes that it got.
func TestWebhookSignature(t *testing.T) {
	r := mustRender(t, channels[0], messageOf(sample()))
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signingSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("msg_01." + strconv.FormatInt(now.Unix(), 10) + "."))
	mac.Write(r.Body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header["webhook-signature"] != want {
		t.Errorf("signature %s, want %s", r.Header["webhook-signature"], want)
	}
	if r.Header["webhook-id"] != "msg_01" || r.Header["webhook-timestamp"] != strconv.FormatInt(now.Unix(), 10) {
		t.Errorf("headers %v", r.Header)
	}
}

// The example of the Standard Webhooks libraries.
func TestWebhookVector(t *testing.T) {
	key, err := alerts.SigningKey(signingSecret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(`msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}`))
	if got := base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signature %s", got)
	}
}

func TestWhereTelegramAndNtfyPost(t *testing.T) {
	for _, c := range []struct {
		channel alerts.Channel
		url     string // "" when it is refused
		want    string // in the body
	}{
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org", Secret: "1:a", Chat: "@ops"}, "https://api.telegram.org/bot1:a/sendMessage", `"chat_id":"@ops"`},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org/", Secret: "1:a", Chat: "-7"}, "https://api.telegram.org/bot1:a/sendMessage", `"chat_id":-7`},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://own.example/tg/", Secret: "1:a", Chat: "-7"}, "https://own.example/tg/bot1:a/sendMessage", ""},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org/bot1:a", Chat: "-7"}, "https://api.telegram.org/bot1:a/sendMessage", ""},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org/bot1:a/sendMessage", Chat: "-7"}, "https://api.telegram.org/bot1:a/sendMessage", ""},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org/bot1:a", Secret: "1:a", Chat: "-7"}, "", ""},
		{alerts.Channel{Kind: alerts.Telegram, URL: "https://api.telegram.org", Chat: "-7"}, "", ""},
		{alerts.Channel{Kind: alerts.Ntfy, URL: "https://ntfy.sh/errors"}, "https://ntfy.sh/", `"topic":"errors"`},
		{alerts.Channel{Kind: alerts.Ntfy, URL: "https://own.example/ntfy/errors/"}, "https://own.example/ntfy/", `"topic":"errors"`},
		{alerts.Channel{Kind: alerts.Ntfy, URL: "https://ntfy.sh/"}, "", ""},
		{alerts.Channel{Kind: alerts.Ntfy, URL: "https://ntfy.sh"}, "", ""},
		{alerts.Channel{Kind: alerts.Webhook, URL: "https://a.example", Secret: "whsec_short"}, "", ""},
		{alerts.Channel{Kind: alerts.Slack, URL: "::"}, "", ""},
		{alerts.Channel{Kind: "pager", URL: "https://a.example"}, "", ""},
	} {
		r, err := render.Render(c.channel, messageOf(sample()), now)
		if c.url == "" {
			if !errors.Is(err, render.ErrChannel) {
				t.Errorf("%s %s: %v, want a refusal", c.channel.Kind, c.channel.URL, err)
			}
			continue
		}
		if err != nil || r.URL != c.url || !strings.Contains(string(r.Body), c.want) {
			t.Errorf("%s %s: %q, %v, want %s", c.channel.Kind, c.channel.URL, r.URL, err, c.url)
		}
	}
}

func TestAnEmptyMessageIsRefused(t *testing.T) {
	for _, channel := range channels {
		if _, err := render.Render(channel, messageOf(), now); !errors.Is(err, render.ErrEmpty) {
			t.Errorf("%s: %v", channel.Kind, err)
		}
	}
}

// A link of ours is left out where it leads to no page, never shown as it is.
func TestLinksThatAreNone(t *testing.T) {
	item := sample()
	item.Link, item.MuteLink = "javascript:alert(1)", "https://user:pass@errata.example.com/"
	m := messageOf(item)
	m.RuleLink = "https://errata.example.com/" + strings.Repeat("x", 2000)
	for _, channel := range channels {
		r := mustRender(t, channel, m)
		all := string(r.Body) + r.Mail.Text + r.Mail.HTML
		if strings.Contains(all, "javascript") || strings.Contains(all, "pass@") || strings.Contains(all, "xxxx") {
			t.Errorf("%s: %s", channel.Kind, all)
		}
		checkAll(t, r, m)
	}
}

// A request that is logged or printed by mistake shows none of its secrets.
func TestARequestPrintsNoSecrets(t *testing.T) {
	for _, channel := range channels {
		r := mustRender(t, channel, messageOf(sample()))
		var b bytes.Buffer
		slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "request", r)
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", "request", r)
		fmt.Fprintf(&b, "%v %+v %#v %s", r, r, r, r)
		for _, secret := range []string{"secret", "XXXX", "errors-x7", "MfKQ9r8", "oncall@"} {
			if strings.Contains(b.String(), secret) {
				t.Errorf("%s shows %s: %s", channel.Kind, secret, b.String())
			}
		}
	}
}
