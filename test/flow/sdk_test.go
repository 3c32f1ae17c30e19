package flow

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getsentry/sentry-go"
	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
)

// Three kinds of error, raised in different places.
type (
	orderError   struct{ number int }
	stockError   struct{ article string }
	paymentError struct{ cause error }
)

func (e *orderError) Error() string   { return fmt.Sprintf("order %d failed", e.number) }
func (e *stockError) Error() string   { return "out of " + e.article }
func (e *paymentError) Error() string { return "payment refused: " + e.cause.Error() }
func (e *paymentError) Unwrap() error { return e.cause }

// here is the line of its caller.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// sdk is an application with an SDK that has nothing but a DSN.
type sdk struct {
	*sentry.Hub
	client *sentry.Client
	wire   *wiretap
}

// wiretap passes requests on and keeps a copy of each.
type wiretap struct {
	next http.RoundTripper

	mu   sync.Mutex
	sent []tapped
}

type tapped struct {
	url    string
	header http.Header
	body   []byte
	status int
}

// RoundTrip implements http.RoundTripper.
func (w *wiretap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, tapped{req.URL.String(), req.Header.Clone(), body, resp.StatusCode})
	return resp, nil
}

func newSDK(t *testing.T, dsn string) *sdk {
	t.Helper()
	transport := &http.Transport{}
	wire := &wiretap{next: transport}
	client, err := sentry.NewClient(sentry.ClientOptions{
		Dsn: dsn, Release: "shop@1.4.2", Environment: "production", ServerName: "web-1",
		AttachStacktrace: true, HTTPTransport: wire,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		transport.CloseIdleConnections()
	})
	return &sdk{Hub: sentry.NewHub(client, sentry.NewScope()), client: client, wire: wire}
}

func (k *sdk) flush(t *testing.T) {
	t.Helper()
	if !k.client.Flush(servicetest.RequestTimeout) {
		t.Fatal("the SDK did not get rid of its events")
	}
}

// moduleRoot is the folder of the module as compiled into this binary.
func moduleRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(path.Dir(path.Dir(file)))
}

// thrown is what was captured: the expected fields of its one record.
type thrown struct {
	Type, Level, Class, Message, File string
	Line                              int
	Count                             uint64
}

// TestUnchangedSDK is an application with sentry-go and the DSN of the first
// start: three errors, captured 5, 3 and 1 times, a message and a panic.
func TestUnchangedSDK(t *testing.T) {
	s := start(t, func(o *app.Options) { o.InstallRoots = []string{moduleRoot()} })
	k := newSDK(t, s.file(t, datadir.DSNFile))
	want := capture(k)
	k.flush(t)
	s.settle(t)

	rows := s.all(t)
	var got []thrown
	for _, r := range rows {
		got = append(got, thrown{r.Type, r.Level, r.ExceptionClass, r.MessagePreview, r.File, r.Line, r.Count})
	}
	byClass := func(a, b thrown) int { return strings.Compare(a.Class, b.Class) }
	slices.SortFunc(want, byClass)
	slices.SortFunc(got, byClass)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for _, r := range rows {
		checkFirstSighting(t, s.checkBooks(t, r))
	}
	everythingAgainCountsNothing(t, s, k)
}

// capture raises the errors and returns the expected records.
func capture(k *sdk) []thrown {
	const file = "test/flow/sdk_test.go"
	var want []thrown
	attempt := func(i int) { k.Scope().SetTag("attempt", strconv.Itoa(i)) }
	for i := 1; i <= 5; i++ {
		attempt(i)
		// A different number each time is the same problem.
		line := here() + 1
		k.CaptureException(&orderError{number: 40 + i})
		if i == 1 {
			want = append(want, thrown{"system", "error", "*flow.orderError", "order 41 failed", file, line, 5})
		}
	}
	for i := 1; i <= 3; i++ {
		attempt(i)
		line := here() + 1
		k.CaptureException(fmt.Errorf("reserve: %w", &stockError{article: "tea"}))
		if i == 1 {
			want = append(want, thrown{"system", "error", "*flow.stockError", "reserve: out of tea", file, line, 3})
		}
	}
	attempt(1)
	k.Scope().SetTag("book", "database")
	line := here() + 1
	k.CaptureException(&paymentError{cause: io.ErrUnexpectedEOF})
	want = append(want, thrown{"database", "error", "*flow.paymentError", "payment refused: unexpected EOF", file, line, 1})
	k.Scope().RemoveTag("book")

	line = here() + 1
	k.CaptureMessage("queue is full")
	want = append(want, thrown{"system", "info", "", "queue is full", file, line, 1})

	func() {
		defer func() { k.Recover(recover()) }()
		var shelf []int
		line = here() + 1
		shelf[len(want)]++
	}()
	return append(want, thrown{"system", "fatal", "runtime.boundsError", "runtime error: index out of range [4] with length 0", file, line, 1})
}

// checkFirstSighting checks that the payload is that of the first event.
func checkFirstSighting(t *testing.T, d detailed) {
	t.Helper()
	p := payloadOf(t, d)
	if p.Tags["attempt"] != "1" {
		t.Errorf("%q: the payload is of attempt %q, want the first", d.MessagePreview, p.Tags["attempt"])
	}
	if p.Source != "sentry" || p.Release != "shop@1.4.2" || p.Environment != "production" || p.Message != d.MessagePreview || len(p.EventID) != 32 {
		t.Errorf("%q: payload %s", d.MessagePreview, d.Payload)
	}
	if len(p.Exceptions) == 0 || (d.ExceptionClass != "" && !strings.Contains(string(d.Payload), `"class":"`+d.ExceptionClass+`"`)) {
		t.Errorf("%q: no exception of the class in %s", d.MessagePreview, d.Payload)
	}
	if d.Count > 1 && d.LastSeen.Before(d.FirstSeen) || d.FirstSeen.Before(time.Now().Add(-time.Hour)) {
		t.Errorf("%q: seen from %v to %v", d.MessagePreview, d.FirstSeen, d.LastSeen)
	}
}

// everythingAgainCountsNothing sends the SDK's requests once more, byte by byte,
// as a proxy that repeats requests would.
func everythingAgainCountsNothing(t *testing.T, s *service, k *sdk) {
	t.Helper()
	before, counted := s.all(t), s.settle(t)
	k.wire.mu.Lock()
	sent := slices.Clone(k.wire.sent)
	k.wire.mu.Unlock()
	events := 0.0
	for _, r := range sent {
		if r.status != http.StatusOK {
			t.Errorf("the SDK got %d for %s", r.status, r.url)
		}
		events += float64(bytes.Count(r.body, []byte(`"type":"event"`)))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, bytes.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.header
		if a, err := s.send(req); err != nil || a.status != http.StatusOK {
			t.Errorf("sent again: %d %s, %v", a.status, a.body, err)
		}
	}
	now := s.settle(t)
	if events != 11 || now.duplicate-counted.duplicate != events || now.folded != counted.folded {
		t.Errorf("of %v events sent again: %v duplicates, %v counted", events, now.duplicate-counted.duplicate, now.folded-counted.folded)
	}
	if diff := cmp.Diff(before, s.all(t)); diff != "" {
		t.Errorf("records changed (-before +after):\n%s", diff)
	}
}
