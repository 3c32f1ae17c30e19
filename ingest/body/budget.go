package body

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// DefaultBudget bounds the memory of the requests in flight when nothing else
// is configured: it leaves the service within 1 GiB with its engines, and holds
// some thousand ordinary events at once.
const DefaultBudget = 128 << 20

// maxWait is how long a new request waits for a part of the budget. Most SDKs
// lose an event that is refused, so a short wait saves errors in a burst.
const maxWait = 2 * time.Second

// Budget bounds the bytes that all requests in flight hold together, so that a
// flood is answered with 503 before the process runs out of memory. A nil
// *Budget bounds nothing. It is safe for concurrent use.
type Budget struct {
	limit int64
	wait  time.Duration

	mu      sync.Mutex
	used    int64
	waiting list.List // of *claim, first come first served
}

type claim struct {
	n     int64
	ready chan struct{} // closed when granted
}

// NewBudget makes a budget of limit bytes; 0 or less means DefaultBudget.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		limit = DefaultBudget
	}
	return &Budget{limit: limit, wait: maxWait}
}

// InUse is how many bytes are held at the moment, for a gauge.
func (b *Budget) InUse() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Limit is the size of the budget in bytes, 0 for unbounded.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// acquire takes n bytes and waits a moment for them where needed. The error
// has kind overloaded.
func (b *Budget) acquire(ctx context.Context, n int64) error {
	if b == nil || n == 0 {
		return nil
	}
	b.mu.Lock()
	if b.waiting.Len() == 0 && b.used+n <= b.limit {
		b.used += n
		b.mu.Unlock()
		return nil
	}
	if n > b.limit {
		b.mu.Unlock()
		return overloaded()
	}
	c := &claim{n: n, ready: make(chan struct{})}
	place := b.waiting.PushBack(c)
	b.mu.Unlock()

	timeout := time.NewTimer(b.wait)
	defer timeout.Stop()
	select {
	case <-c.ready:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.ready: // granted while we gave up: keep it
		return nil
	default:
		b.waiting.Remove(place)
		b.grant() // the next one may be smaller than this was
		return overloaded()
	}
}

// try takes n bytes without waiting.
func (b *Budget) try(n int64) bool {
	if b == nil || n == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.limit {
		return false
	}
	b.used += n
	return true
}

func (b *Budget) release(n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.grant()
}

// grant serves those who wait, in order, as far as the budget goes.
func (b *Budget) grant() {
	for place := b.waiting.Front(); place != nil; place = b.waiting.Front() {
		c := place.Value.(*claim)
		if b.used+c.n > b.limit {
			return
		}
		b.used += c.n
		b.waiting.Remove(place)
		close(c.ready)
	}
}
