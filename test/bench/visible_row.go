package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/internal/load"
)

const (
	visibleSpan  = 20 * time.Second
	visibleProbe = 100 * time.Millisecond
	// visiblePoll leaves the processors to the service: each look is a list.
	visiblePoll = 20 * time.Millisecond
	// visibleLimit is the highest p99, in milliseconds.
	visibleLimit = 400
)

// visible measures how long an accepted event takes until the list shows it,
// while others come in at half the highest rate.
func (b *bench) visible() error {
	req := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), nativeEvent(7), 1)
	if b.peak == 0 {
		r, err := load.Strict(b.addr, req, 64, b.span)
		if err != nil {
			return err
		}
		b.peak = r.PerSecond()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.steady(ctx, req, b.peak/2, func(int, time.Time) {}) }() // ends with ctx
	latency := load.NewHistogram()
	tick := time.NewTicker(visibleProbe)
	defer tick.Stop()
	for end := time.Now().Add(visibleSpan); time.Now().Before(end); {
		<-tick.C
		took, err := b.probe(ctx)
		if err != nil {
			return err
		}
		if err := latency.RecordValue(took.Microseconds()); err != nil {
			return err
		}
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	row{name: "visible, at half the rate", ours: millis(latency, 99), ceiling: visibleLimit, unit: "ms p99",
		note: fmt.Sprintf("p50 %.0f ms, %d probes, %.0f events/s beside them; at most %d", millis(latency, 50), latency.TotalCount(), b.peak/2, visibleLimit)}.write(b.out)
	return nil
}

// probes numbers the problems of [bench.probe].
var probes atomic.Uint64

// probe sends an event of a problem of its own and lists until it is there.
func (b *bench) probe(ctx context.Context) (time.Duration, error) {
	class := fmt.Sprintf("Probe%s", letters(probes.Add(1)))
	body := strings.NewReplacer("Payment\\\\GatewayErrorAh", class, load.Number, class).Replace(nativeEvent(7))
	if err := b.call(ctx, b.ingestKey, http.MethodPost, "/api/v1/events", json.RawMessage(body), &struct{}{}); err != nil {
		return 0, err
	}
	accepted := time.Now()
	poll := time.NewTicker(visiblePoll)
	defer poll.Stop()
	for {
		n, err := b.count(ctx, "exception_class="+class)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return time.Since(accepted), nil
		}
		<-poll.C
	}
}

// letters writes a number without digits, which the signature would replace.
func letters(n uint64) string {
	var b strings.Builder
	for ; n > 0; n /= 26 {
		b.WriteByte(byte('a' + n%26))
	}
	return b.String()
}
