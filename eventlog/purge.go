package eventlog

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Purge removes the facts before sequence keep for good. Before that, the caller
// makes sure that a snapshot holds them and that all settings are at keep or after.
func Purge(ctx context.Context, log Log, keep uint64) error {
	stream, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return fmt.Errorf("open the log %s: %w", log.Stream, err)
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSequence(keep)); err != nil {
		return fmt.Errorf("purge the log before %d: %w", keep, err)
	}
	return nil
}
