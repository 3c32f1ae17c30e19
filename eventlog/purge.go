package eventlog

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Purge removes the facts before sequence keep for good. The caller has made
// sure that a snapshot holds them and that the settings stand behind keep.
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
