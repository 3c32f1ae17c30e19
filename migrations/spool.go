package migrations

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// SpoolStream is the stream in which an ingest node keeps its events until its
	// hub has them.
	SpoolStream = "SPOOL"
	// SpoolPrefix begins the subjects of the spool.
	SpoolPrefix = "spool."
)

// Spool makes the stream and the bucket of keys of an ingest node, or checks
// existing ones. maxBytes bounds the spool; a full spool refuses new events.
func Spool(ctx context.Context, js jetstream.JetStream, maxBytes int64) error {
	if maxBytes <= 0 {
		return fmt.Errorf("migrations: maxBytes is %d and must be positive: a spool without a limit fills the disk", maxBytes)
	}
	cfg := LogConfig{MaxBytes: maxBytes, Replicas: 1}
	if err := ensureStream(ctx, js, spoolConfig(cfg), false); err != nil {
		return fmt.Errorf("migrations: stream %s: %w", SpoolStream, err)
	}
	if err := ensureBucket(ctx, js, keysConfig(cfg)); err != nil {
		return fmt.Errorf("migrations: bucket %s: %w", KeysBucket(""), err)
	}
	return nil
}

// spoolConfig is a work queue of blocks. A block is removed when it is on the log
// of the hub.
func spoolConfig(cfg LogConfig) jetstream.StreamConfig {
	c := otherStream(cfg, SpoolStream, "events of this ingest node on their way to the hub", SpoolPrefix+"ev.>")
	c.Retention, c.DenyDelete = jetstream.WorkQueuePolicy, false
	return c
}
