package errata

// Node is one node of a cluster, as the one that was asked knows it.
type Node struct {
	// Name is its address in the list of peers.
	Name string `json:"node"`
	// Self says that it is the one that was asked.
	Self bool `json:"self"`
	// Role is leads or follows, by who leads the log, or away.
	Role string `json:"role"`
	// Version is the program's, "" when the node was never heard.
	Version string `json:"version"`
	// Position is the last fact in its records, LagMS how long the oldest one behind that has
	// waited, in milliseconds, and Free what its disk has left, in bytes. A node that is away
	// has those of when it was last heard.
	Position uint64 `json:"position"`
	LagMS    int64  `json:"lag_ms"`
	Free     int64  `json:"disk_free_bytes"`
	// Away is since when it says nothing, zero for a node that is there.
	Away Instant `json:"away_since"`
}
