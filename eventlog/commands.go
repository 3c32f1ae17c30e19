package eventlog

import (
	"context"
	"fmt"

	"github.com/nats-io/nuid"
)

// Commands of the log itself; they change no record.
const (
	// CommandBarrier is answered when everything before it is visible.
	CommandBarrier = "barrier"
	// CommandPad uses up a sequence, see PadTo.
	CommandPad = "pad"
)

// PadTo appends facts without meaning until the log reaches sequence last. A
// log that came back shorter than its projection, from a backup or a lost
// disk, would otherwise use sequences again that the projection has passed,
// and the new facts under them would never be folded.
func PadTo(ctx context.Context, log Log, last uint64) error {
	for {
		ack, err := publishAck(ctx, log, subjectCommands+CommandPad, nil, nuid.Next())
		if err != nil {
			return fmt.Errorf("fill up the log to %d: %w", last, err)
		}
		if ack.Sequence >= last {
			return nil
		}
	}
}
