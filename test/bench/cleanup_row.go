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
	// cleanupLimit is the time in seconds for a cleanup of half of a million
	// records while events come in, and ingestSlowdown the limit for the p99 of
	// those events, as a multiple of the p99 before.
	cleanupLimit   = 10.0
	ingestSlowdown = 2.0
)

// quietCleanupLimits are the limits in seconds without other load, for 100 k, 1 M
// and 10 M records.
var quietCleanupLimits = limits{0.5, 3, 30}

// quietCleanup removes half of the records.
func (b *bench) quietCleanup() error {
	before, half := b.corpus.median()
	began := time.Now()
	deleted, err := b.clear(context.Background(), before)
	if err != nil {
		return err
	}
	b.cleanupRow("quiet", time.Since(began), deleted, quietCleanupLimits[column(b.sizes.changed)], "")
	return removedHalf(deleted, half)
}

func removedHalf(deleted, half int) error {
	if deleted != half {
		return fmt.Errorf("the cleanup removed %d records, want %d", deleted, half)
	}
	return nil
}

func (b *bench) cleanupRow(how string, took time.Duration, deleted int, limit float64, note string) {
	row{name: fmt.Sprintf("cleanup of half of %s, %s", sizeName(b.sizes.changed), how), ours: took.Seconds(), unit: "s", limit: limit,
		note: fmt.Sprintf("%.0f records a second%s", float64(deleted)/took.Seconds(), note)}.write(b.out)
}

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
	if err := removedHalf(deleted, half); err != nil {
		return err
	}
	b.cleanupRow("busy", ended.Sub(began), deleted, max(1, cleanupLimit*float64(b.sizes.changed)/1e6),
		fmt.Sprintf(", %.0f events/s beside it", w.perSecond))
	calm, err := w.latency(calmFrom, began)
	if err != nil {
		return err
	}
	during, err := w.latency(began, ended)
	if err != nil {
		return err
	}
	if during.TotalCount() == 0 || calm.TotalCount() == 0 {
		return fmt.Errorf("no request was due during the cleanup, which took %v; take more records", ended.Sub(began))
	}
	row{name: "ingestion meanwhile", ours: millis(during, 99), ceiling: millis(calm, 99), unit: "ms p99",
		limit: ingestSlowdown * millis(calm, 99),
		note: fmt.Sprintf("p50 %s ms, before it %s ms; %d and %d requests of 500 events",
			figure(millis(during, 50)), figure(millis(calm, 50)), during.TotalCount(), calm.TotalCount())}.write(b.out)
	return nil
}
