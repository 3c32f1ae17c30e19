package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/internal/load"
)

const (
	// largeDeletes have as many signatures as the API takes, with and without
	// ingestion; smallDeletes have a hundred, enough of them for a p99.
	largeDeletes = 40
	smallDeletes = 200
)

// deletes measures DELETE through the HTTP API until the answer, when it is
// visible. Smaller stocks have smaller deletes, so that at most 15 % of the
// records go.
func (b *bench) deletes() error {
	ctx := context.Background()
	large, small := max(1, min(1000, b.sizes.changed/200)), max(1, min(100, b.sizes.changed/2000))
	next := b.pieces()
	peak, err := b.ndjsonPeak(ctx)
	if err != nil {
		return err
	}
	quiet, err := b.deleteTimes(ctx, largeDeletes, func() []string { return next(large) }, false)
	if err != nil {
		return err
	}
	b.deleteRow(fmt.Sprintf("delete %d of %s", large, sizeName(b.sizes.changed)), quiet, 95, 0, "until answered")
	seen, err := b.deleteTimes(ctx, smallDeletes, func() []string { return next(small) }, true)
	if err != nil {
		return err
	}
	b.deleteRow(fmt.Sprintf("delete %d of %s", small, sizeName(b.sizes.changed)), seen, 99,
		[...]float64{200, 300, 500}[column(b.sizes.changed)], "until the list is without them")
	w := b.startWriters(ctx, peak/2)
	busy, err := b.deleteTimes(ctx, largeDeletes, func() []string { return next(large) }, false)
	if err = errors.Join(err, w.stop()); err != nil {
		return err
	}
	b.deleteRow(fmt.Sprintf("delete %d of %s, busy", large, sizeName(b.sizes.changed)), busy, 95, 0,
		fmt.Sprintf("until answered, %.0f events/s beside them", w.perSecond))
	return nil
}

// pieces returns a function that gives signatures of the corpus, none twice.
func (b *bench) pieces() func(n int) []string {
	from := 0
	return func(n int) []string {
		signatures := make([]string, n)
		for i := range signatures {
			signatures[i] = b.corpus.signature(from + i).String()
		}
		from += n
		return signatures
	}
}

// deleteTimes deletes one piece after another. With look it also waits until the
// list no longer finds the last signature of the piece.
func (b *bench) deleteTimes(ctx context.Context, times int, piece func() []string, look bool) (*hdrhistogram.Histogram, error) {
	latency := load.NewHistogram()
	for range times {
		signatures := piece()
		sent := time.Now()
		count, err := b.remove(ctx, signatures)
		if err != nil {
			return nil, err
		}
		for left := 1; look && left > 0; {
			if left, err = b.count(ctx, "signature="+signatures[len(signatures)-1]); err != nil {
				return nil, err
			}
		}
		if err := latency.RecordValue(time.Since(sent).Microseconds()); err != nil {
			return nil, err
		}
		if count != len(signatures) {
			return nil, fmt.Errorf("a delete met %d records, want %d", count, len(signatures))
		}
	}
	return latency, nil
}

// deleteRow prints the times; quantile is the one with the limit, in percent.
func (b *bench) deleteRow(name string, h *hdrhistogram.Histogram, quantile, limit float64, note string) {
	row{name: name, ours: millis(h, quantile), unit: fmt.Sprintf("ms p%.0f", quantile), limit: limit,
		note: fmt.Sprintf("p50 %s ms, max %s ms, %d times; %s", figure(millis(h, 50)), figure(millis(h, 100)), h.TotalCount(), note)}.write(b.out)
}
