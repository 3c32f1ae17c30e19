package eventlog

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
)

// Version is the version of what a fact may say. It grows with the first fact that an older
// program must not pass over, because its records would differ from then on.
const Version = 1

// headerNeeds is the Version of the programs that know what the fact says. A fact that any
// version may fold or leave out has none, as all of version 1.
const headerNeeds = "Errata-Needs"

// ErrNewer says that a newer version of Errata has written a fact, which this one cannot read.
// Nodes of two versions may run side by side: the older one waits there, and goes on once it
// has been upgraded.
var ErrNewer = errors.New("a newer version of Errata has written it; upgrade this node, which goes on from there and loses nothing")

// newer is ErrNewer for a fact that needs another program, nil for others. A need that cannot
// be read is of no version before this one.
func newer(sequence uint64, h nats.Header) error {
	needs := h.Get(headerNeeds)
	if needs == "" {
		return nil
	}
	if version, err := strconv.ParseUint(needs, 10, 32); err == nil && version <= Version {
		return nil
	}
	return fmt.Errorf("fact %d needs version %s of the log, this program reads %d: %w", sequence, needs, Version, ErrNewer)
}
