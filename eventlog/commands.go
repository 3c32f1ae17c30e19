package eventlog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// Commands for the log itself; they change no record.
const (
	// CommandBarrier is answered when all facts before it are in the records.
	CommandBarrier = "barrier"
	// CommandPad only uses up a sequence; see [PadTo].
	CommandPad = "pad"
	// CommandImported says that old error files were imported; see [Imported].
	// Their events are on the log before it. It is answered like a barrier.
	CommandImported = "import"
	// CommandSnapshot makes a snapshot, after which the log before it can be
	// purged; see [Snapshot].
	CommandSnapshot = "snapshot"
)

// Commands that change records. A command takes effect at its place in the log: on
// the events before it, and not on those after it.
const (
	// CommandDelete removes the records of the signatures; see [Signatures].
	CommandDelete = "delete"
	// CommandStatus gives the records of the signatures a status; see [StatusMove].
	CommandStatus = "status"
	// CommandCleanup removes the records last seen up to a time; see [Cleanup].
	CommandCleanup = "cleanup"
	// CommandMatching removes the records that match a filter, or gives them a
	// status; see [Matching].
	CommandMatching = "matching"
	// CommandErase removes the data of persons from the records; see [Erase].
	CommandErase = "erase"
	// CommandExpire removes occurrences, and changes no record; see [Expire].
	CommandExpire = "expire-occurrences"
)

// The same commands within projects: a record of another project stays as it is, and
// is not in the answer. They have names of their own and are not the commands above
// with one member more, because a version that does not know the member would change
// the records of all projects. It refuses a command whose name it does not know.
const (
	CommandDeleteIn  = "delete-in-projects"
	CommandStatusIn  = "status-in-projects"
	CommandCleanupIn = "cleanup-in-projects"
)

// Within names the projects that a command is about; none for all. Of the commands
// above, those within projects name at least one, and the others none.
type Within struct {
	Projects []uint64 `json:"projects,omitempty"`
}

// Signatures is the body of a delete, which applies to both books. The answer is
// [errata.Changed].
type Signatures struct {
	Signatures []string `json:"signatures"` // 32 hex digits each
	Within
}

// StatusMove is the body of a status command. The answer is [errata.Changed].
type StatusMove struct {
	Signatures []string      `json:"signatures"`
	Status     errata.Status `json:"status"`
	Within
}

// Cleanup is the body of a cleanup. It removes the records of both books whose
// last_seen is Before, in Unix milliseconds, or earlier. The answer is
// [errata.Changed].
type Cleanup struct {
	Before int64 `json:"before"`
	Within
}

// Matching is the body of a command for all records that match a filter at its
// place in the log. It removes them, or gives them Status if that is not empty. The
// answer is [errata.Changed].
type Matching struct {
	// Filter is a filter of lists, as the package query encodes it.
	Filter json.RawMessage `json:"filter"`
	Status errata.Status   `json:"status,omitempty"`
	// Every version that knows this command knows the projects.
	Within
}

// Erase is the body of an erasure: users, as applications name them, and IP
// addresses. A record whose first event came from one of them loses user, address
// and context. Every text that contains one of the addresses loses it. The answer
// is [errata.Changed].
type Erase struct {
	Users     []string `json:"users,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// Expire is the body of an expiry. It removes the occurrences of the projects, at
// least one, that were received before Before, in Unix milliseconds.
type Expire struct {
	Before int64 `json:"before"`
	Within
}

// Snapshot is the body of a snapshot. The blocks before sequence Keep are about to
// be purged. The window of event ids forgets them at once, because a projector that
// reads the log later cannot know them.
type Snapshot struct {
	Keep uint64 `json:"keep"`
}

// SnapshotTaken is the answer to a snapshot, which holds all facts up to Sequence.
type SnapshotTaken struct {
	Sequence uint64 `json:"sequence"`
}

// Imported says how much one import put on the log.
type Imported struct {
	Files      int64 `json:"files"`
	Events     int64 `json:"events"`
	Unreadable int64 `json:"unreadable"`
}

// Refused is the answer to a command that was not carried out.
type Refused struct {
	Error string `json:"error"`
}

// PadTo appends empty facts until the log reaches sequence last. It is for a log
// that ends before the checkpoint, because it was restored from a backup or its
// disk lost data. Without it, new facts would get sequences that the projection
// has already passed, and they would never be folded.
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
