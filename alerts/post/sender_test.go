package post

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/render"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver is a server with TLS, and a sender that trusts its certificate. allow says
// whether its address may be asked.
func receiver(t *testing.T, allow bool, handler http.HandlerFunc) (*httptest.Server, *Sender) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return server, senderTo(t, server, allow)
}

func senderTo(t *testing.T, server *httptest.Server, allow bool) *Sender {
	t.Helper()
	cfg := Config{Now: func() time.Time { return time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC) }}
	if allow {
		cfg.AllowHosts = []string{server.Listener.Addr().String()}
	}
	if server.TLS != nil {
		cfg.RootCAs = x509.NewCertPool()
		cfg.RootCAs.AddCert(server.Certificate())
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hook(url string) render.Request {
	return render.Request{Kind: alerts.Webhook, ID: "msg_1", URL: url, Header: map[string]string{"Content-Type": "application/json"}, Body: []byte(`{"type":"error.test"}`)}
}

// A webhook arrives as it was rendered, and its signature can be checked.
func TestAWebhookArrives(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	key, err := alerts.SigningKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	server, sender := receiver(t, true, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) || r.Header.Get("User-Agent") != "Errata" ||
			r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Cookie") != "" {
			w.WriteHeader(http.StatusBadRequest)
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		fmt.Fprint(w, "taken\n")
	})
	request, err := render.Render(alerts.Channel{Kind: alerts.Webhook, URL: server.URL + "/hook", Secret: secret}, alerts.Message{ID: "msg_1", Test: true}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one without the cookie
		if o := sender.Send(t.Context(), request); !o.OK || o.Status != http.StatusOK || o.Answer != "taken" || o.Err != "" || o.Permanent {
			t.Errorf("outcome %+v", o)
		}
	}
}

// An address that only this machine can reach is not connected to, whatever its name.
func TestClosedAddressesAreNotConnectedTo(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	sender := senderTo(t, server, false)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001", "0.0.0.0"} {
		o := sender.Send(t.Context(), hook("https://"+host+":"+port+"/"))
		if o.OK || o.Permanent || o.Status != 0 || o.Err == "" {
			t.Errorf("%s: %+v", host, o)
		}
	}
	if o := sender.Send(t.Context(), hook(server.URL)); !strings.Contains(o.Err, "127.0.0.1") || !strings.Contains(o.Err, "operator may allow") {
		t.Errorf("error %q", o.Err)
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestClearTextIsForAllowedHosts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	if o := senderTo(t, server, true).Send(t.Context(), hook(server.URL)); !o.OK {
		t.Errorf("allowed: %+v", o)
	}
	if o := senderTo(t, server, false).Send(t.Context(), hook("http://93.184.215.14/")); !strings.Contains(o.Err, "https://") {
		t.Errorf("not allowed: %+v", o)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int32
	server, sender := receiver(t, true, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
	})
	o := sender.Send(t.Context(), hook(server.URL))
	if o.OK || o.Status != http.StatusPermanentRedirect || !strings.Contains(o.Err, "redirects (308)") || asked.Load() != 1 {
		t.Errorf("%d requests, %+v", asked.Load(), o)
	}
}

// A proxy would make the connection in our place.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	server, sender := receiver(t, true, func(http.ResponseWriter, *http.Request) {})
	if o := sender.Send(t.Context(), hook(server.URL)); !o.OK || sender.transport.Proxy != nil {
		t.Errorf("outcome %+v", o)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	if o := senderTo(t, server, true).Send(t.Context(), hook(server.URL)); o.OK || !strings.Contains(o.Err, "tls") {
		t.Errorf("outcome %+v", o)
	}
}

// A receiver that says nothing, or never ends its answer, does not hold a sender.
func TestSlowReceivers(t *testing.T) {
	for name, say := range map[string]bool{"silent": false, "endless": true} {
		t.Run(name, func(t *testing.T) {
			server, sender := receiver(t, true, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // a server notices the end of a connection only then
				if say {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			})
			sender.timeout = 200 * time.Millisecond
			o := sender.Send(t.Context(), hook(server.URL))
			if o.OK != say || !say && !strings.Contains(o.Err, "no answer within") {
				t.Errorf("outcome %+v", o)
			}
		})
	}
	if timeout != 10*time.Second {
		t.Errorf("the time limit is %s", timeout)
	}
}

func TestTheServiceStops(t *testing.T) {
	arrived := make(chan struct{})
	server, sender := receiver(t, true, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // or an answer could still come first
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if o := sender.Send(ctx, hook(server.URL)); o.OK || o.Err != "the service stops" || o.Permanent {
		t.Errorf("outcome %+v", o)
	}
}

// An answer of any size is read up to a limit, and shown as one short line.
func TestLongAnswers(t *testing.T) {
	var wrote atomic.Int64
	server, sender := receiver(t, true, func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("\x1b[31mé\u202E\n", 1000))
		for range 10_000 {
			n, err := w.Write(chunk)
			if wrote.Add(int64(n)); err != nil {
				return
			}
		}
	})
	o := sender.Send(t.Context(), hook(server.URL))
	if !o.OK || len(o.Answer) > 300 || strings.ContainsAny(o.Answer, "\x1b\n\u202E") || !strings.HasPrefix(o.Answer, "[31mé [31mé") {
		t.Errorf("answer %q", o.Answer)
	}
	server.Close()
	if n := wrote.Load(); n > 16<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		kind          alerts.ChannelKind
		status        int
		header, body  string
		ok, permanent bool
		wait          time.Duration
	}{
		{alerts.Webhook, 200, "", "", true, false, 0},
		{alerts.Discord, 204, "", "", true, false, 0},
		{alerts.Teams, 202, "", "", true, false, 0},
		{alerts.Webhook, 410, "", "", false, true, 0},
		{alerts.Webhook, 404, "", "", false, false, 0},
		{alerts.Mattermost, 404, "", "", false, false, 0},
		{alerts.Slack, 404, "", "no_service", false, true, 0},
		{alerts.Discord, 404, "", "", false, true, 0},
		{alerts.Slack, 400, "", "invalid_blocks", false, false, 0},
		{alerts.Webhook, 401, "", "", false, false, 0},
		{alerts.Webhook, 408, "", "", false, false, 0},
		{alerts.Discord, 429, "30", "", false, false, 30 * time.Second},
		{alerts.Telegram, 429, "", `{"ok":false,"parameters":{"retry_after":35}}`, false, false, 35 * time.Second},
		{alerts.Webhook, 503, "Sat, 14 Mar 2026 09:02:00 GMT", "", false, false, 2 * time.Minute},
		{alerts.Webhook, 503, "Sat, 14 Mar 2020 09:02:00 GMT", "", false, false, 0},
		{alerts.Webhook, 503, "99999999", "", false, false, time.Hour},
		{alerts.Webhook, 503, "-5", "", false, false, 0},
		{alerts.Webhook, 500, "soon", `{"parameters":{"retry_after":-1}}`, false, false, 0},
	} {
		server, sender := receiver(t, true, func(w http.ResponseWriter, _ *http.Request) {
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		request := hook(server.URL)
		request.Kind = c.kind
		o := sender.Send(t.Context(), request)
		if o.OK != c.ok || o.Permanent != c.permanent || o.RetryAfter != c.wait || o.Status != c.status || (o.Err == "") != c.ok {
			t.Errorf("%s %d: %+v", c.kind, c.status, o)
		}
	}
}
