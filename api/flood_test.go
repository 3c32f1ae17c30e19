package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/sentry"
)

const (
	envelopePath = "/api/7/envelope/"
	sentryEvent  = "{\"type\":\"event\"}\n{\"message\":\"m\"}\n"
	withKey      = "X-Sentry-Auth: Sentry sentry_key=" + doortest.PublicKey
	// The first byte of a brotli stream with a window of 16 MiB, the header of
	// a zstd frame with a window of 8 MiB, and the header of a zstd frame that
	// declares a size of 8 MiB.
	brotliWindow = "\x0f"
	zstdWindow   = "\x28\xb5\x2f\xfd\x00\x68"
	zstdSegment  = "\x28\xb5\x2f\xfd\xa0\x00\x00\x80\x00"
)

// besieged is a real server with receivers. It knows when it waits for a
// sender.
type besieged struct {
	address string
	budget  *door.Budget
	attacks atomic.Int64
	hungry  sync.Map // by the number of an attack: chan struct{}, closed when it is waited for
}

func besiege(t *testing.T, budget int64) *besieged {
	t.Helper()
	s := &besieged{budget: door.NewBudget(budget)}
	cfg := door.Config{Accepter: &doortest.Recorder{Discard: true}, Keyring: doortest.Keys{}, Budget: s.budget}
	events, err := native.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	envelopes, err := sentry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	telemetry, err := otlp.New(otlp.Config{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *api.Config) {
		c.Receivers = api.Receivers{Native: events, SentryEnvelope: envelopes, SentryStore: envelopes, OTLPLogs: telemetry}
	})
	_, address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if again, attacks := s.hungry.Load(r.Header.Get("X-Attack")); attacks {
			r.Body = &watched{ReadCloser: r.Body, again: again.(chan struct{})}
		}
		b.handler.ServeHTTP(w, r)
	}), nil)
	s.address = strings.TrimPrefix(address, "http://")
	return s
}

// watched signals when the beginning of a body was read and more is wanted.
type watched struct {
	io.ReadCloser
	again chan struct{}
	reads int
}

func (w *watched) Read(p []byte) (int, error) {
	if w.reads++; w.reads == 2 {
		close(w.again)
	}
	return w.ReadCloser.Read(p)
}

// attack begins a request, sends one chunk and stops. It returns when the
// server waits for the rest, or with the status line when it has answered.
func (s *besieged) attack(t *testing.T, header []string, chunk string) string {
	t.Helper()
	number, again := fmt.Sprint(s.attacks.Add(1)), make(chan struct{})
	s.hungry.Store(number, again)
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return err.Error()
	}
	head := append([]string{"POST " + envelopePath + " HTTP/1.1", "Host: x", "X-Attack: " + number, "Connection: close", "Transfer-Encoding: chunked"}, header...)
	answer := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() { // ends with the connection
		line, _ := bufio.NewReader(conn).ReadString('\n')
		answer <- strings.TrimSpace(line)
	})
	t.Cleanup(func() {
		_ = conn.Close()
		reading.Wait()
	})
	if _, err := fmt.Fprintf(conn, "%s\r\n\r\n%x\r\n%s\r\n", strings.Join(head, "\r\n"), len(chunk), chunk); err != nil {
		return err.Error()
	}
	select {
	case <-again:
		return ""
	case line := <-answer:
		return line
	}
}

// mustTake sends honest requests to all receivers and wants each to be
// accepted.
func (s *besieged) mustTake(t *testing.T, requests int) {
	t.Helper()
	dsn := "{\"dsn\":\"https://" + doortest.PublicKey + "@errata.test/7\"}\n"
	for _, r := range []struct{ name, path, header, content string }{
		{"native", "/api/v1/events", "Authorization: Bearer " + doortest.Token, `{"message":"m"}`},
		{"OTLP", "/v1/logs", "X-Api-Key: " + doortest.Token, `{}`},
		{"Sentry", envelopePath, withKey, "{}\n" + sentryEvent},
		{"Sentry, key in the body", envelopePath, "X-Other: x", dsn + sentryEvent},
	} {
		for range requests {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+r.path, strings.NewReader(r.content))
			if err != nil {
				t.Fatal(err)
			}
			name, value, _ := strings.Cut(r.header, ": ")
			req.Header.Set(name, value)
			req.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode >= 300 {
				t.Fatalf("%s: %d %s", r.name, resp.StatusCode, text)
			}
		}
	}
}

// Connections that declare windows and then stop hold no memory for them. The
// largest windows come first, so that smaller ones would fill the room that is
// left.
func TestSilentConnectionsChangeNothing(t *testing.T) {
	for name, header := range map[string][]string{"without a key": nil, "with a key": {withKey}} {
		t.Run(name, func(t *testing.T) {
			s := besiege(t, door.DefaultBudget)
			for _, c := range []struct {
				times         int
				coding, chunk string
			}{
				{8, "br", brotliWindow}, {4, "zstd", zstdSegment}, {4, "zstd", zstdWindow}, {16, "zstd", "\x28\xb5\x2f\xfd\x00\x50"},
				{8, "zstd", "\x28\xb5\x2f\xfd\x00\x40"}, {16, "gzip", "\x1f\x8b\x08\x00"}, {24, "identity", "{"},
			} {
				var all sync.WaitGroup
				for range c.times {
					all.Go(func() { s.attack(t, append(slices.Clone(header), "Content-Encoding: "+c.coding), c.chunk) })
				}
				all.Wait()
			}
			if held := s.budget.InUse(); held > 80*64<<10 {
				t.Errorf("80 silent connections hold %d bytes", held)
			}
			s.mustTake(t, 20)
		})
	}
}

// Floods by one sender with a key and by one without, each with many more
// connections than there is room for.
func TestNobodyTakesAllPlaces(t *testing.T) {
	s := besiege(t, 4<<20)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { s.attack(t, nil, "{") })
		all.Go(func() { s.attack(t, []string{withKey}, "{") })
	}
	all.Wait()
	for range 20 {
		for _, r := range []struct{ path, header string }{
			{"/api/v1/events", "Authorization: Bearer " + doortest.Token}, {"/v1/logs", "X-Api-Key: " + doortest.Token},
		} {
			answer := talk(t, s.address, "POST "+r.path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+r.header+"\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"message\":\"m\"}")
			if !strings.HasPrefix(answer, "HTTP/1.1 20") {
				t.Fatalf("%s with another key: %.200q", r.path, answer)
			}
		}
	}
}

// TestBrotliBombs sends many bodies of some bytes whose window is 16 MiB.
func TestBrotliBombs(t *testing.T) {
	var packed bytes.Buffer
	z := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: 9, LGWin: 24})
	if _, err := z.Write(bytes.Repeat([]byte{' '}, 32<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		header []string
		want   string
	}{
		"without a key": {nil, "HTTP/1.1 401 Unauthorized"},
		"with a key":    {[]string{withKey}, "HTTP/1.1 413 Request Entity Too Large"},
	} {
		t.Run(name, func(t *testing.T) {
			s := besiege(t, door.DefaultBudget)
			began := doortest.CPU()
			var flood sync.WaitGroup
			for range 8 {
				flood.Go(func() {
					for range 50 {
						head := append([]string{"POST " + envelopePath + " HTTP/1.1", "Host: x", "Connection: close", "Content-Encoding: br", fmt.Sprint("Content-Length: ", packed.Len())}, c.header...)
						if got := talk(t, s.address, strings.Join(head, "\r\n")+"\r\n\r\n"+packed.String()); !strings.HasPrefix(got, c.want) {
							t.Errorf("a bomb was answered %.200q", got)
							return
						}
					}
				})
			}
			s.mustTake(t, 20)
			flood.Wait()
			// 16 MiB of each, filled and read once, would be 20 s.
			if took := doortest.CPU() - began; took > 8*time.Second {
				t.Errorf("400 bombs took %v of processor time", took)
			}
			t.Logf("400 bombs of %d bytes and 80 requests: %v of processor time", packed.Len(), doortest.CPU()-began)
		})
	}
}
