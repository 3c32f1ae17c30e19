package load

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testSpan = 100 * time.Millisecond

// served starts a server for a test.
func served(t *testing.T, handler http.HandlerFunc) (addr string) {
	t.Helper()
	addr, stop, err := Serve(handler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return addr
}

func post(events int) Request { return NewRequest("POST", "/in", nil, Number, events) }

func TestRunCountsEvents(t *testing.T) {
	addr, stop, err := NullSink()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Strict(addr, post(3), 4, testSpan)
	if err != nil || r.Requests == 0 || r.Events != 3*r.Requests || r.Latency.TotalCount() != r.Requests || r.Elapsed < testSpan || r.PerSecond() <= 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestRunCountsRefusals: a server that is busy is measured, not given up.
func TestRunCountsRefusals(t *testing.T) {
	var n, taken atomic.Int64
	addr := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch n.Add(1) % 3 {
		case 0:
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		default:
			taken.Add(1)
		}
	})
	r, err := Run(t.Context(), addr, post(1), 2, testSpan)
	if err != nil || r.Requests != taken.Load() || r.Latency.TotalCount() != r.Requests || r.Unanswered != 0 || len(r.Refused) != 2 {
		t.Errorf("got %+v, %v; want %d taken", r, err, taken.Load())
	}
	if refused := r.Refused["429 Too Many Requests"] + r.Refused["503 Service Unavailable"]; refused != n.Load()-taken.Load() {
		t.Errorf("%d refused, want %d", refused, n.Load()-taken.Load())
	}
	if r.Failure == nil || !strings.Contains(r.Failure.Error(), "busy") && !strings.Contains(r.Failure.Error(), "slow down") {
		t.Errorf("the first failure is %v", r.Failure)
	}
	if _, err := Strict(addr, post(1), 2, testSpan); err == nil {
		t.Error("a server that refuses requests is taken for one that takes all")
	}
}

// TestRunConnectsAgain: a server may end its connections, with or without an answer.
func TestRunConnectsAgain(t *testing.T) {
	var n, taken atomic.Int64
	addr := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n.Add(1)%2 == 0 {
			panic(http.ErrAbortHandler) // no answer
		}
		taken.Add(1)
		w.Header().Set("Connection", "close")
	})
	r, err := Run(t.Context(), addr, post(1), 2, testSpan)
	if err != nil || r.Requests != taken.Load() || r.Requests < 2 || r.Unanswered != n.Load()-taken.Load() || r.Failure == nil {
		t.Errorf("got %+v, %v; want %d taken, %d without an answer", r, err, taken.Load(), n.Load()-taken.Load())
	}
}

func TestRunOfAServerThatIsNotThere(t *testing.T) {
	addr, stop, err := NullSink()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if r, err := Run(t.Context(), addr, post(1), 2, testSpan); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestRunEndsWithItsContext also when the server does not answer.
func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked, release := make(chan struct{}, 1), make(chan struct{})
	addr := served(t, func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	})
	defer close(release) // before the server stops
	go func() {          // ends with the request
		<-asked
		cancel()
	}()
	if r, err := Run(ctx, addr, post(1), 1, time.Hour); !errors.Is(err, context.Canceled) || r.Requests != 0 || r.Unanswered != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}
