//go:build clients

package clients

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

// recorder stands between the clients and a service that dies meanwhile: it sends
// every request on until the service takes it, and some of them again.
type recorder struct {
	t      *testing.T
	doors  *doors // get every request once
	target *url.URL
	server *httptest.Server
	client *http.Client

	taken       atomic.Int64 // requests that the service took, each once
	retried     atomic.Int64
	resent      atomic.Int64 // resentLater of them in the next phase
	resentLater atomic.Int64
	refused     atomic.Int64
	underway    sync.WaitGroup
	over        chan struct{} // closed when the test ends

	mu sync.Mutex
	// later are requests that are sent once more in the next phase, early the first
	// native ones, which are not.
	later, early []forwarded
	// byAgent counts the requests that were taken by the first word of the client's
	// name for itself.
	byAgent map[string]int
	// at are what to do when so many requests were taken.
	at map[int64]func()
}

// forwarded is a request of a client.
type forwarded struct {
	method, path string
	header       http.Header
	body         []byte
	// first is the client's id of its first event, sequence where that is on the log.
	first    string
	sequence uint64
}

const nativePath = "/api/v1/events"

// Of so many requests, one is sent again at once, and one in the next phase.
const (
	again      = 16
	againLater = 40
	// earlyRequests is how many native ones are kept until they are purged.
	earlyRequests = 5
)

func newRecorder(t *testing.T, target string, doors *doors) *recorder {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, doors: doors, target: to, client: servicetest.NewHTTP(), over: make(chan struct{}), at: map[int64]func(){}, byAgent: map[string]int{}}
	r.server = httptest.NewServer(r)
	t.Cleanup(func() {
		close(r.over)
		r.server.Close()
		r.underway.Wait()
		r.client.CloseIdleConnections()
	})
	return r
}

// URL is where the clients send to.
func (r *recorder) URL() string { return r.server.URL }

// when has something done in the background once n more requests were taken.
func (r *recorder) when(n int64, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at[r.taken.Load()+n] = do
}

// idle waits until every request was taken, and says how often something that was
// to be done [recorder.when] was not.
func (r *recorder) idle() (undone int) {
	r.underway.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	undone = len(r.at)
	clear(r.at)
	return undone
}

// agents are how many requests of each client were taken.
func (r *recorder) agents() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.byAgent)
}

// ServeHTTP answers a client with what the service says in the end.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.underway.Add(1)
	defer r.underway.Done()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client is gone, and will send again
	}
	f := forwarded{method: req.Method, path: req.URL.RequestURI(), header: req.Header.Clone(), body: body}
	resp, answer := r.forward(f)
	if resp == nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	for name, values := range resp.Header {
		if name != "Date" && name != "Content-Length" {
			w.Header()[name] = slices.Clone(values)
		}
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(answer)
}

// forward sends a request until the service takes it, and perhaps again.
func (r *recorder) forward(f forwarded) (*http.Response, []byte) {
	resp, answer := r.insist(f)
	if resp == nil || f.method != http.MethodPost {
		return resp, answer
	}
	n := r.taken.Add(1)
	events := r.doors.take(&f)
	r.mu.Lock()
	switch {
	case len(events) == 0: // a client reports about itself
	case n%againLater == 0:
		f.first = events[0].Trail.ClientID
		r.later = append(r.later, f)
	case n%again > 0 && f.path == nativePath && len(r.early) < earlyRequests:
		r.early = append(r.early, f)
	}
	agent, _, _ := strings.Cut(f.header.Get("User-Agent"), "/")
	r.byAgent[agent]++
	do := r.at[n]
	delete(r.at, n)
	r.mu.Unlock()
	if do != nil {
		r.underway.Go(do)
	}
	if n%again == 0 {
		r.resent.Add(1)
		r.insist(f)
	}
	return resp, answer
}

// insist sends a request until it gets an answer other than a 5xx; without one
// when the test is over.
func (r *recorder) insist(f forwarded) (*http.Response, []byte) {
	// The service may be dead, and nothing tells a sender of its return.
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		resp, answer, err := r.send(f)
		if err == nil && resp.StatusCode < 500 {
			if resp.StatusCode >= 300 {
				r.refused.Add(1)
				r.t.Errorf("%s %s: %d %s", f.method, f.path, resp.StatusCode, answer)
			}
			return resp, answer
		}
		r.retried.Add(1)
		select {
		case <-pause.C:
		case <-r.over:
			return nil, nil
		}
	}
}

func (r *recorder) send(f forwarded) (*http.Response, []byte, error) {
	req, err := servicetest.NewRequest(f.method, r.target.String()+f.path, bytes.NewReader(f.body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range f.header {
		if !strings.EqualFold(name, "Connection") {
			req.Header[name] = values
		}
	}
	resp, text, err := servicetest.Send(r.client, req)
	return resp, []byte(text), err
}

// resendLater sends again what was kept for it and is on the log at a sequence or after
// it. The service has all of it already.
func (r *recorder) resendLater(from uint64) {
	r.mu.Lock()
	list := r.later
	r.later = nil
	r.mu.Unlock()
	for _, f := range list {
		if f.sequence < from {
			continue // a purge may have it forgotten before the service sees it again
		}
		r.resent.Add(1)
		r.resentLater.Add(1)
		r.insist(f)
	}
}
