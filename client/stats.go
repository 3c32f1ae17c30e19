package client

import (
	"maps"
	"sync"
)

// Why events were dropped.
const (
	// DroppedQueueFull: there were more events than the client could send.
	DroppedQueueFull = "queue_full"
	// DroppedRefused: the service refused them; Options.OnError gets the reasons.
	DroppedRefused = "refused"
	// DroppedBroken: something panicked while the event was made, such as
	// BeforeSend, or a value has no JSON.
	DroppedBroken = "broken"
	// DroppedClosed: they came after Close, or Close had no time to send them.
	DroppedClosed = "closed"
)

// Stats are counts since the client was made.
type Stats struct {
	// Sent events are on the service's disk.
	Sent uint64
	// Waiting events are in the queue.
	Waiting int
	// Dropped events are lost, by reason. Those of LeftOut are not among them.
	Dropped map[string]uint64
	// LeftOut events were dropped by BeforeSend.
	LeftOut uint64
	// Retries are batches that were sent again.
	Retries uint64
}

// Lost is how many events were dropped, for all reasons.
func (s Stats) Lost() (n uint64) {
	for _, dropped := range s.Dropped {
		n += dropped
	}
	return n
}

// counts are the present Stats.
type counts struct {
	mu sync.Mutex
	Stats
}

func (c *counts) drop(reason string, n int) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Dropped[reason] += uint64(n)
}

// add adds n to one of the counts.
func (c *counts) add(to *uint64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*to += uint64(n)
}

func (c *counts) copy() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.Stats
	stats.Dropped = maps.Clone(stats.Dropped)
	return stats
}
