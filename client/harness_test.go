package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/client"
	"github.com/errata-log/errata/test/testenv"
)

// never is much longer than any wait in these tests.
const never = 30 * time.Second

func TestMain(m *testing.M) { testenv.Main(m) }

// sent is an event as it was sent.
type sent struct {
	ID             string         `json:"id"`
	Time           time.Time      `json:"time"`
	Type           string         `json:"type"`
	Level          string         `json:"level"`
	Message        string         `json:"message"`
	Template       string         `json:"template"`
	ExceptionClass string         `json:"exception_class"`
	File           string         `json:"file"`
	Line           int            `json:"line"`
	RequestURI     string         `json:"request_uri"`
	RequestMethod  string         `json:"request_method"`
	UserID         string         `json:"user_id"`
	IP             string         `json:"ip"`
	Fingerprint    []string       `json:"fingerprint"`
	Frames         []client.Frame `json:"frames"`
	Payload        map[string]any `json:"payload"`
}

// recorder is a transport that keeps all batches.
type recorder struct {
	// answer is the answer to each batch; nil takes all.
	answer func(try int, batch []client.Message) ([]client.Refusal, error)

	mu     sync.Mutex
	tries  int
	taken  []client.Message
	closed int
}

func (r *recorder) Send(_ context.Context, batch []client.Message) ([]client.Refusal, error) {
	r.mu.Lock()
	r.tries++
	try := r.tries
	r.mu.Unlock()
	var refused []client.Refusal
	var err error
	if r.answer != nil {
		refused, err = r.answer(try, batch)
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range batch {
		if !refuses(refused, i) {
			r.taken = append(r.taken, m)
		}
	}
	return refused, nil
}

func refuses(refused []client.Refusal, index int) bool {
	for _, r := range refused {
		if r.Index == index {
			return true
		}
	}
	return false
}

func (r *recorder) Close(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
	return nil
}

// events are the application's events that were taken, in order.
func (r *recorder) events(t *testing.T) []sent {
	t.Helper()
	return slices.DeleteFunc(r.all(t), isReport)
}

// isReport says whether an event reports dropped events.
func isReport(e sent) bool {
	return e.Template == "%d errors were dropped before they were sent"
}

func (r *recorder) all(t *testing.T) []sent {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]sent, len(r.taken))
	for i, m := range r.taken {
		d := json.NewDecoder(strings.NewReader(string(m.Body)))
		d.DisallowUnknownFields()
		if err := d.Decode(&all[i]); err != nil {
			t.Fatalf("%v in %s", err, m.Body)
		}
		if all[i].ID != m.ID || strings.Contains(string(m.Body), "\n") {
			t.Errorf("message %s is %s", m.ID, m.Body)
		}
	}
	return all
}

// one is the single event that was taken.
func (r *recorder) one(t *testing.T) sent {
	t.Helper()
	all := r.events(t)
	if len(all) != 1 {
		t.Fatalf("%d events, want 1", len(all))
	}
	return all[0]
}

// newClient makes a client that is closed with the test.
func newClient(t *testing.T, r *recorder, configure ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{Transport: r, MaxBackoff: 20 * time.Millisecond}
	for _, c := range configure {
		c(&o)
	}
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIt(t, c) })
	return c
}

func closeIt(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), never)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func flush(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	if err := c.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// captured are the events that do captures, as the service gets them.
func captured(t *testing.T, do func(*client.Client), configure ...func(*client.Options)) sent {
	t.Helper()
	r := &recorder{}
	c := newClient(t, r, configure...)
	do(c)
	flush(t, c)
	return r.one(t)
}

// answers is a service that gives prepared answers, one after the other. After
// that it takes everything.
type answers struct {
	*httptest.Server
	mu       sync.Mutex
	prepared []func(http.ResponseWriter)
	requests []*http.Request
	bodies   []string
	at       []time.Time
}

func serve(t *testing.T, prepared ...func(http.ResponseWriter)) *answers {
	t.Helper()
	a := &answers{prepared: prepared}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Server.Close)
	return a
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	if err := r.Write(&body); err != nil {
		panic(http.ErrAbortHandler)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
	a.requests, a.bodies, a.at = append(a.requests, r), append(a.bodies, text), append(a.at, time.Now())
	if n := len(a.requests) - 1; n < len(a.prepared) {
		a.prepared[n](w)
		return
	}
	answer(202, `{"data":{"accepted":1,"rejected":[],"adjusted":[]}}`)(w)
}

func answer(status int, body string, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// to makes a client of such a service.
func (a *answers) to(t *testing.T, configure ...func(*client.Options)) *client.Client {
	t.Helper()
	return newClient(t, nil, append([]func(*client.Options){func(o *client.Options) {
		o.Transport = nil
		o.URL, o.Key = a.URL, "KEY"
	}}, configure...)...)
}

var errPlain = errors.New("plain")

// callerPC is the program counter of its caller, as a logger notes it.
func callerPC() uintptr {
	var pcs [1]uintptr
	runtime.Callers(2, pcs[:])
	return pcs[0]
}
