package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

// Positions says how far the records of this node are: up to which fact of the log, by its
// sequence. Package ops implements it.
type Positions interface {
	// Shown is the last fact of which an answer may have shown something.
	Shown() uint64
	// Await returns when the records have the fact. Errors: unknown_position when the log
	// does not reach that far, store_unavailable when ctx ended before.
	Await(ctx context.Context, sequence uint64) error
}

const (
	// positionHeader says in an answer how much of the log the caller may have seen or
	// written. Whoever sends it back, to any node, sees no less. It is a header and no member
	// of meta: the contract lists what meta of a list has, and gives other answers none.
	positionHeader = "X-Errata-Position"
	// positionTimeout is how long a request waits for the records. A node that is well
	// needs a moment. It may need 10 s when the log loses its leader: the others agree on a
	// new one, and only then a node learns of the last facts.
	positionTimeout = 12 * time.Second
)

// tells says whether the answers of a route tell a position: those of the administration that
// need a scope. An ingest node has no records.
func (s *service) tells(r route) bool {
	return s.Positions != nil && r.Admission == AdmitByScope && strings.HasPrefix(r.Path, admin+"/")
}

// awaitPosition waits until the records of this node have what the caller has seen or
// written, here or elsewhere. Errors: invalid_position, and those of [Positions].
func (c *call) awaitPosition() error {
	sent := c.Request.Header.Values(positionHeader)
	if !c.tells || len(sent) == 0 {
		return nil
	}
	sequence, err := strconv.ParseUint(strings.TrimSpace(sent[0]), 10, 64)
	if err != nil || len(sent) > 1 {
		return errata.Errorf(errata.KindInvalidPosition, "%s takes one number, as an answer has it in the same header; %q is none.", positionHeader, cut(strings.Join(sent, ", ")))
	}
	return c.await(sequence)
}

// await waits until the records of this node have the fact.
func (c *call) await(sequence uint64) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), positionTimeout)
	defer cancel()
	return c.service.Positions.Await(ctx, sequence)
}

// position is what the answer tells: nothing behind it was read or written by the call.
func (c *call) position() uint64 {
	return max(c.service.Positions.Shown(), c.written.Last())
}

// tellPosition puts the position into the headers. It comes after everything was read.
func (c *call) tellPosition() {
	if c.tells {
		c.Writer.Header().Set(positionHeader, strconv.FormatUint(c.position(), 10))
	}
}
