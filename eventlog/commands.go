package eventlog

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// Commands of the log itself; they change no record.
const (
	// CommandBarrier is answered when everything before it is visible.
	CommandBarrier = "barrier"
	// CommandPad uses up a sequence, see PadTo.
	CommandPad = "pad"
	// CommandImported says that old error files were imported; see [Imported].
	// What they held stands on the log before it. It is answered as a barrier.
	CommandImported = "import"
	// CommandSnapshot keeps a copy of the projection, so that the log before
	// it can go; see [Snapshot].
	CommandSnapshot = "snapshot"
)

// Commands that change records. They take effect at their place in the log: on
// what was seen before them, and not on what is seen after.
const (
	// CommandDelete removes the records of the signatures; see [Signatures].
	CommandDelete = "delete"
	// CommandStatus moves the records of the signatures; see [StatusMove].
	CommandStatus = "status"
	// CommandCleanup removes the records last seen up to a time; see [Cleanup].
	CommandCleanup = "cleanup"
	// CommandErase takes the traces of persons out of the records; see [Erase].
	CommandErase = "erase"
)

// Signatures is the body of a delete. Both books are meant. It is answered
// with [errata.Changed].
type Signatures struct {
	Signatures []string `json:"signatures"` // 32 hex digits each
}

// StatusMove is the body of a status move, answered with [errata.Changed].
type StatusMove struct {
	Signatures []string      `json:"signatures"`
	Status     errata.Status `json:"status"`
}

// Cleanup is the body of a cleanup: the records of both books whose last_seen
// is Before, in Unix milliseconds, or earlier. It is answered with [errata.Changed].
type Cleanup struct {
	Before int64 `json:"before"`
}

// Erase is the body of an erasure: users as applications name them, and IP
// addresses. Records of whose first sighting they are lose user, address and
// context; texts that mention an address lose it. It is answered with [errata.Changed].
type Erase struct {
	Users     []string `json:"users,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// Snapshot is the body of a snapshot. The window of event ids forgets the
// blocks before Keep, which are about to be purged: a projector that reads the
// log later cannot know them either.
type Snapshot struct {
	Keep uint64 `json:"keep"`
}

// SnapshotTaken answers a snapshot: it holds everything up to Sequence.
type SnapshotTaken struct {
	Sequence uint64 `json:"sequence"`
}

// Imported is what one import put on the log.
type Imported struct {
	Files      int64 `json:"files"`
	Events     int64 `json:"events"`
	Unreadable int64 `json:"unreadable"`
}

// Refused answers a command that was not carried out.
type Refused struct {
	Error string `json:"error"`
}

// PadTo appends facts without meaning until the log reaches sequence last. A
// log that came back shorter than its projection, from a backup or a lost
// disk, would otherwise use sequences again that the projection has passed,
// and the new facts under them would never be folded.
func PadTo(ctx context.Context, log Log, last uint64) error {
	state, err := Inspect(ctx, log)
	if err != nil {
		return err
	}
	for at := state.Last; at < last; {
		if at, err = publishMsg(ctx, log, &nats.Msg{Subject: log.Prefix + subjectCommands + CommandPad}, nuid.Next()); err != nil {
			return fmt.Errorf("fill up the log to %d: %w", last, err)
		}
	}
	return nil
}
