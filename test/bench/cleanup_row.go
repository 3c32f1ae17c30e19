package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// cleanupBefore is how long ingestion is watched before the cleanup.
	cleanupBefore = 10 * time.Second
	// cleanupLimit is what cleaning up half of a million records may take while
	// events come in, in seconds, and ingestSlowdown how many times as long the
	// p99 of those may be meanwhile.
	cleanupLimit   = 10.0
	ingestSlowdown = 2.0
)

// cleanup removes half of the records while events come in at half the highest
// rate.
func (b *bench) cleanup() error {
	ctx := context.Background()
	peak, err := b.ndjsonPeak(ctx)
	if err != nil {
		return err
	}
	before, half := b.corpus.median()
	w := b.startWriters(ctx, peak/2)
	calmFrom := time.Now()
	watch := time.NewTimer(cleanupBefore)
	defer watch.Stop()
	<-watch.C
	began := time.Now()
	deleted, err := b.clear(ctx, before)
	ended := time.Now()
	if err == nil {
		err = w.passed(ctx, ended)
	}
	if err = errors.Join(err, w.stop()); err != nil {
		return err
	}
	if deleted != half {
		return fmt.Errorf("the cleanup removed %d records, want %d", deleted, half)
	}
	took := ended.Sub(began).Seconds()
	name := fmt.Sprintf("cleanup of half of %s", sizeName(b.sizes.changed))
	row{name: name, ours: took, unit: "s", limit: max(1, cleanupLimit*float64(b.sizes.changed)/1e6),
		note: fmt.Sprintf("%.0f records a second, %.0f events/s beside it", float64(deleted)/took, w.perSecond)}.write(b.out)
	calm, err := w.latency(calmFrom, began)
	if err != nil {
		return err
	}
	during, err := w.latency(began, ended)
	if err != nil {
		return err
	}
	if during.TotalCount() == 0 || calm.TotalCount() == 0 {
		return fmt.Errorf("no request was due during the cleanup, which took %.2f s; take more records", took)
	}
	row{name: "ingestion meanwhile", ours: millis(during, 99), ceiling: millis(calm, 99), unit: "ms p99",
		limit: ingestSlowdown * millis(calm, 99),
		note: fmt.Sprintf("p50 %s ms, before it %s ms; %d and %d requests of 500 events",
			figure(millis(during, 50)), figure(millis(calm, 50)), during.TotalCount(), calm.TotalCount())}.write(b.out)
	return nil
}
