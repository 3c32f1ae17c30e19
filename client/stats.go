package client

import (
	"maps"
	"sync"
)

// Why events were dropped.
const (
	// DroppedQueueFull: more came than could be sent.
	DroppedQueueFull = "queue_full"
	// DroppedRefused: the service does not take them; Options.OnError has why.
	DroppedRefused = "refused"
	// DroppedBroken: something panicked while the event was made, such as
	// BeforeSend, or its values could not be written.
	DroppedBroken = "broken"
	// DroppedClosed: they came after Close, or it had no time to send them.
	DroppedClosed = "closed"
)

// Stats are counts since the client was made.
type Stats struct {
	// Sent events are on the service's disk.
	Sent uint64
	// Waiting events are in the queue.
	Waiting int
	// Dropped events are lost, by their reason; what BeforeSend left out is
	// not among them.
	Dropped map[string]uint64
	// LeftOut events were dropped by BeforeSend.
	LeftOut uint64
	// Retries are batches that were sent again.
	Retries uint64
}

// Lost is how many events were dropped, whatever the reason.
func (s Stats) Lost() (n uint64) {
	for _, dropped := range s.Dropped {
		n += dropped
	}
	return n
}

// counts are Stats as they grow.
type counts struct {
	mu sync.Mutex
	Stats
	reported uint64 // of the dropped
}

func (c *counts) drop(reason string, n int) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Dropped == nil {
		c.Dropped = map[string]uint64{}
	}
	c.Dropped[reason] += uint64(n)
}

func (c *counts) sent(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Sent += uint64(n)
}

func (c *counts) leftOut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.LeftOut++
}

func (c *counts) retried() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Retries++
}

func (c *counts) copy() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.Stats
	stats.Dropped = maps.Clone(stats.Dropped)
	return stats
}

// unreported is what was dropped since it was last said, n events in all.
func (c *counts) unreported() (n uint64, dropped map[string]uint64) {
	stats := c.copy()
	c.mu.Lock()
	defer c.mu.Unlock()
	return stats.Lost() - c.reported, stats.Dropped
}

func (c *counts) wasReported(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reported += n
}
