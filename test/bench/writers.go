package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/internal/load"
)

const (
	// steadyConns is how many connections send at a steady rate.
	steadyConns = 16
	// passedLimit is how long they may take to catch up.
	passedLimit = time.Minute
	passedPoll  = 10 * time.Millisecond
)

// steady sends the request to the service at a fixed rate, see [steadyTo].
func (b *bench) steady(ctx context.Context, req load.Request, perSecond float64, answered func(conn int, due time.Time)) error {
	return steadyTo(ctx, b.addr, req, perSecond, answered)
}

// steadyTo sends the request at a fixed rate of events until ctx ends, over the
// connections in turn. answered gets the connection of each answer and the time
// at which its request was due.
func steadyTo(ctx context.Context, addr string, req load.Request, perSecond float64, answered func(conn int, due time.Time)) error {
	step := time.Duration(float64(req.Events) / perSecond * float64(time.Second))
	ended := make(chan error, steadyConns)
	begin := time.Now()
	for conn := range steadyConns {
		go func() { // ends with ctx
			ended <- load.Paced(ctx, addr, req, begin.Add(time.Duration(conn)*step), steadyConns*step,
				func(due time.Time) { answered(conn, due) })
		}()
	}
	var err error
	for range steadyConns {
		err = errors.Join(err, <-ended)
	}
	return err
}

// ndjsonRequest carries 500 events of a hundred problems.
func (b *bench) ndjsonRequest() load.Request {
	const batch = 500
	return load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), ndjson(batch), batch)
}

// ndjsonPeak is how many events a second the service takes by NDJSON. It returns
// when all of them are visible.
func (b *bench) ndjsonPeak(ctx context.Context) (float64, error) {
	const conns = 8
	r, err := load.Strict(b.addr, b.ndjsonRequest(), conns, b.span)
	if err != nil {
		return 0, fmt.Errorf("take the highest rate: %w", err)
	}
	return r.PerSecond(), b.caughtUp(ctx)
}

// writers send NDJSON at a fixed rate until they are stopped.
type writers struct {
	perSecond float64
	cancel    context.CancelFunc
	ended     chan error

	mu      sync.Mutex
	answers []timedAnswer
	last    [steadyConns]time.Time // when the last answered request of a connection was due
}

// timedAnswer is an answer and the time since its request was due.
type timedAnswer struct {
	due  time.Time
	took time.Duration
}

func (b *bench) startWriters(ctx context.Context, perSecond float64) *writers {
	ctx, cancel := context.WithCancel(ctx)
	w := &writers{perSecond: perSecond, cancel: cancel, ended: make(chan error, 1)}
	go func() { w.ended <- b.steady(ctx, b.ndjsonRequest(), perSecond, w.answered) }() // ends with stop
	return w
}

func (w *writers) answered(conn int, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = append(w.answers, timedAnswer{due, time.Since(due)})
	w.last[conn] = due
}

// passed waits until all requests due up to then are answered: the slowest ones
// must not be left out.
func (w *writers) passed(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, passedLimit)
	defer cancel()
	tick := time.NewTicker(passedPoll)
	defer tick.Stop()
	for {
		w.mu.Lock()
		behind := slices.ContainsFunc(w.last[:], func(due time.Time) bool { return !due.After(until) })
		w.mu.Unlock()
		if !behind {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("ingestion was still behind after %v", passedLimit)
		}
	}
}

// latency holds the times of the requests that were due between two moments.
func (w *writers) latency(from, to time.Time) (*hdrhistogram.Histogram, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := load.NewHistogram()
	for _, a := range w.answers {
		if a.due.Before(from) || a.due.After(to) {
			continue
		}
		if err := h.RecordValue(max(1, a.took.Microseconds())); err != nil {
			return nil, fmt.Errorf("an answer took %v: %w", a.took, err)
		}
	}
	return h, nil
}

// stop ends the writers and returns their error.
func (w *writers) stop() error {
	w.cancel()
	if err := <-w.ended; err != nil {
		return fmt.Errorf("ingestion beside: %w", err)
	}
	return nil
}

// millis is a quantile of a histogram of microseconds, in milliseconds.
func millis(h *hdrhistogram.Histogram, quantile float64) float64 {
	return float64(h.ValueAtQuantile(quantile)) / 1000
}
