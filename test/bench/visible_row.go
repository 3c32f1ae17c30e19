package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/load"
)

const (
	// visibleProbes is how many events are looked for, one after another. Two of them are beyond
	// p99; of fewer than 100 the slowest would be p99.
	visibleProbes = 200
	visibleProbe  = 100 * time.Millisecond
	// visiblePause is the shortest pause between two looks. Each look is a list, which takes
	// processors from the service, so the pause is also at least as long as the look before it.
	visiblePause = 20 * time.Millisecond
	// visibleLimit is the highest p99, in milliseconds, and visibleManyLimit that with more than
	// visibleMany signatures.
	visibleLimit     = 400
	visibleManyLimit = 600
	visibleMany      = 1000
)

// probedClass is the exception class of nativeEvent(7), as it is written in JSON.
const probedClass = "Payment\\\\GatewayErrorAh"

// probeEvent is nativeEvent(7) with another exception class, by which the list finds it.
func probeEvent(class string) string {
	return strings.Replace(nativeEvent(7), probedClass, class, 1)
}

// amongEvent is an event of one of many problems. Each problem is in a file of its own.
func amongEvent() string {
	return strings.ReplaceAll(nativeEvent(7), "Gateway.php", load.Problem+".php")
}

// visible measures how long an accepted event takes until the list shows it,
// while others come in at half the highest rate. It does so for each number of signatures.
func (b *bench) visible() error {
	for _, n := range b.sizes.seen {
		if err := b.visibleAmong(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) visibleAmong(n int) error {
	req := load.NewRequest("POST", "/api/v1/events", b.nativeHeader(), amongEvent(), 1).Among(n)
	var peak float64
	for sent := int64(0); sent < int64(n); { // each problem has been seen
		r, err := load.Strict(b.addr, req, 64, b.span)
		if err != nil {
			return err
		}
		sent, peak = sent+r.Events, r.PerSecond()
	}
	if err := b.caughtUp(context.Background()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.steady(ctx, req, peak/2, func(int, time.Time) {}) }() // ends with ctx
	latency := load.NewHistogram()
	tick := time.NewTicker(visibleProbe)
	defer tick.Stop()
	for range visibleProbes {
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
	limit := float64(visibleLimit)
	if n > visibleMany {
		limit = visibleManyLimit
	}
	row{name: fmt.Sprintf("visible, at half the rate, %s signatures", sizeName(n)), ours: millis(latency, 99), ceiling: limit, unit: "ms p99",
		note: fmt.Sprintf("p50 %.0f ms, %d probes, %.0f events/s beside them; at most %.0f", millis(latency, 50), latency.TotalCount(), peak/2, limit)}.write(b.out)
	return nil
}

// probes numbers the problems of [bench.probe].
var probes atomic.Uint64

// probe sends an event of a problem of its own and lists until it is there.
func (b *bench) probe(ctx context.Context) (time.Duration, error) {
	class := fmt.Sprintf("Probe%s", letters(probes.Add(1)))
	body := strings.Replace(probeEvent(class), load.Number, class, 1)
	if err := b.call(ctx, b.ingestKey, http.MethodPost, "/api/v1/events", json.RawMessage(body), &struct{}{}); err != nil {
		return 0, err
	}
	accepted := time.Now()
	for {
		looked := time.Now()
		n, err := b.count(ctx, "exception_class="+class)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return time.Since(accepted), nil
		}
		if !background.Wait(ctx, max(visiblePause, time.Since(looked))) {
			return 0, ctx.Err()
		}
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
