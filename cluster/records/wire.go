package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// pieceBytes is how much of a file one reply has: half of what NATS takes as one message.
	pieceBytes = 512 << 10
	// askTimeout bounds one request. A peer answers from its page cache, or has died.
	askTimeout = 5 * time.Second
	// refusedHeader is in a reply that has nothing else.
	refusedHeader = "Errata-Refused"
)

// What may be asked.
const (
	opOpen  = "open"  // for a snapshot; answered by an opened
	opPiece = "piece" // for a piece of a file; answered by its bytes
)

// request asks a node for its tables.
type request struct {
	Op string `json:"op"`
	// Of an open: what the asking node can use. Its log begins at First.
	Terms Terms  `json:"terms,omitzero"`
	First uint64 `json:"first,omitempty"`
	// Of a piece: the snapshot, the file by its place in it, counted from 1, or 0 for the
	// manifest, and the first byte.
	Snapshot string `json:"snapshot,omitempty"`
	File     int    `json:"file,omitempty"`
	At       int64  `json:"at,omitempty"`
}

// opened answers an open.
type opened struct {
	// Snapshot names it, "" while it is being made: then the request is sent again.
	Snapshot string `json:"snapshot,omitempty"`
	// Size and SHA256 are those of the manifest, a [Snapshot] as JSON.
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// errRefused is what a node answers that does not give its tables.
var errRefused = errors.New("it refuses")

// subject is where a node is asked. A node is named by its address, which a subject cannot have
// in it.
func subject(prefix, node string) string {
	sum := sha256.Sum256([]byte(node))
	return prefix + "records." + hex.EncodeToString(sum[:8])
}

// ask sends one request and returns the reply. Errors: errRefused.
func ask(ctx context.Context, conn *nats.Conn, subject string, r request) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, subject, data)
	if err != nil {
		return nil, err
	}
	if why := reply.Header.Get(refusedHeader); why != "" {
		return nil, fmt.Errorf("%w: %s", errRefused, why)
	}
	return reply.Data, nil
}

// refuse is the reply that says why not.
func refuse(to *nats.Msg, why error) error {
	reply := nats.NewMsg(to.Reply)
	reply.Header.Set(refusedHeader, why.Error())
	return to.RespondMsg(reply)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
