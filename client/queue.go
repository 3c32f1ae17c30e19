package client

import (
	"slices"
	"sync"
)

const (
	// DefaultQueue is how many events wait at most: ten minutes without the
	// service, at more than one error a second.
	DefaultQueue = 1000
	// maxQueueBytes bounds the memory of the waiting events.
	maxQueueBytes = 16 << 20
	// maxBatch and maxBatchBytes bound a batch. Common proxies take 1 MB.
	maxBatch      = 100
	maxBatchBytes = 512 << 10
)

// queue holds messages until they are sent. Many goroutines add, one removes.
type queue struct {
	mu      sync.Mutex
	waiting []Message
	bytes   int
	room    int // how many may wait
	closed  bool

	// added and finished count all messages so far. moved is closed, and replaced
	// by a new channel, whenever finished grows.
	added, finished uint64
	moved           chan struct{}
	// arrived gets a token when a message is added.
	arrived chan struct{}
}

func newQueue(room int) *queue {
	return &queue{room: room, moved: make(chan struct{}), arrived: make(chan struct{}, 1)}
}

// refuses is the reason why nothing can be added, "" for none.
func (q *queue) refuses() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusesLocked(0)
}

func (q *queue) refusesLocked(size int) string {
	switch {
	case q.closed:
		return DroppedClosed
	case len(q.waiting) >= q.room || q.bytes+size > maxQueueBytes:
		return DroppedQueueFull
	}
	return ""
}

// add appends a message, or returns the reason why it cannot.
func (q *queue) add(m Message) (refused string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if refused := q.refusesLocked(len(m.Body)); refused != "" {
		return refused
	}
	q.waiting = append(q.waiting, m)
	q.bytes += len(m.Body)
	q.added++
	select {
	case q.arrived <- struct{}{}:
	default: // there is a token already
	}
	return ""
}

// batch are the oldest messages, as many as are sent at once. They stay in the
// queue. full says that no more messages fit.
func (q *queue) batch() (batch []Message, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.waiting) {
		bytes += len(q.waiting[n].Body)
		if n == maxBatch || n > 0 && bytes > maxBatchBytes {
			full = true
			break
		}
		n++
	}
	return slices.Clone(q.waiting[:n]), full || n == maxBatch
}

// finish removes the n oldest messages.
func (q *queue) finish(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.waiting[:n] {
		q.bytes -= len(m.Body)
	}
	clear(q.waiting[:n])
	q.waiting = q.waiting[n:]
	q.finished += uint64(n)
	close(q.moved)
	q.moved = make(chan struct{})
}

// progress returns both counts, and the channel that closes when finished grows.
func (q *queue) progress() (added, finished uint64, moved <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.added, q.finished, q.moved
}

// size is how many messages wait.
func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// close makes the queue refuse all further messages.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
