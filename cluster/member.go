package cluster

import "time"

const (
	// sayPause is the pause between two announcements of a node.
	sayPause = time.Second
	// heardBy is when all nodes have heard what a node has to say.
	heardBy = 2 * sayPause
	// silent is after how long a node that says nothing counts as away.
	silent = 5 * time.Second
	// patience is how long a node that is away keeps the others from removing what it has
	// not seen. A restart takes seconds, an upgrade of a machine some minutes.
	patience = time.Hour
)

// Position is how far a node is. It needs what comes after that.
type Position struct {
	// Folded is the last fact of the log that is in its records.
	Folded uint64 `json:"folded"`
	// Modules and Queries are the first messages of the module and query logs that are not
	// in its tables, 0 while that is not known.
	Modules uint64 `json:"modules"`
	Queries uint64 `json:"queries"`
}

// Member is what a node says about itself.
type Member struct {
	Node    string `json:"node"`
	Version string `json:"version"`
	Position
	// Lag is how long the oldest fact that is not in its records has waited, Free what its
	// disk has left, in bytes.
	Lag  time.Duration `json:"lag"`
	Free int64         `json:"free"`
	// Doing is what it does instead of folding the log, "" for nothing.
	Doing string `json:"doing,omitempty"`
}

// heard is the last that a node has said, and when it came here.
type heard struct {
	Member
	at time.Time
}
