package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// steady sends the request at a fixed rate of events until ctx ends; answered
// is that of [paced].
func (b *bench) steady(ctx context.Context, req request, perSecond float64, answered func(time.Duration)) error {
	const conns = 16
	each := time.Duration(conns * float64(req.events) / perSecond * float64(time.Second))
	ended := make(chan error, conns)
	for range conns {
		go func() { ended <- paced(ctx, b.addr, req, each, answered) }() // ends with ctx
	}
	var first error
	for range conns {
		if err := <-ended; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// ndjsonRequest carries 500 events of a hundred problems.
func (b *bench) ndjsonRequest() request {
	const batch = 500
	return newRequest("POST", "/api/v1/events", b.nativeHeader(), ndjson(batch), batch)
}

// ndjsonPeak is how many events a second the service takes by NDJSON. It
// returns when all of them are visible.
func (b *bench) ndjsonPeak(ctx context.Context) (float64, error) {
	const conns = 8
	r, err := load(b.addr, b.ndjsonRequest(), conns, b.span)
	if err != nil {
		return 0, fmt.Errorf("take the highest rate: %w", err)
	}
	return r.perSecond(), b.caughtUp(ctx)
}

// writers send NDJSON at a fixed rate until they are stopped.
type writers struct {
	perSecond float64
	cancel    context.CancelFunc
	ended     chan error

	mu      sync.Mutex
	latency *hdrhistogram.Histogram
	failure error
}

func (b *bench) startWriters(ctx context.Context, perSecond float64) *writers {
	ctx, cancel := context.WithCancel(ctx)
	w := &writers{perSecond: perSecond, cancel: cancel, ended: make(chan error, 1), latency: newHistogram()}
	go func() { w.ended <- b.steady(ctx, b.ndjsonRequest(), perSecond, w.answered) }() // ends with stop
	return w
}

func (w *writers) answered(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.latency.RecordValue(max(1, took.Microseconds())); err != nil && w.failure == nil {
		w.failure = fmt.Errorf("an answer took %v: %w", took, err)
	}
}

// take returns the latencies since the last take.
func (w *writers) take() *hdrhistogram.Histogram {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.latency
	w.latency = newHistogram()
	return taken
}

// stop ends the writers and says what went wrong with them.
func (w *writers) stop() error {
	w.cancel()
	err := <-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.failure
	}
	if err != nil {
		return fmt.Errorf("ingestion beside: %w", err)
	}
	return nil
}

// millis is a quantile of a histogram of microseconds, in milliseconds.
func millis(h *hdrhistogram.Histogram, quantile float64) float64 {
	return float64(h.ValueAtQuantile(quantile)) / 1000
}
