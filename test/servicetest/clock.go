package servicetest

import (
	"sync"
	"time"
)

// Clock is a service's clock, set by the test: each look moves it by a step, so
// that a slow machine changes nothing.
type Clock struct {
	mu   sync.Mutex
	time time.Time
	step time.Duration
}

// NewClock is a clock that begins at a time. Without a step it stands still.
func NewClock(at time.Time, step time.Duration) *Clock { return &Clock{time: at, step: step} }

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(c.step)
	return c.time
}

// Forward sets the clock to a later time. It ignores an earlier one: the clock
// never goes back.
func (c *Clock) Forward(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.time) {
		c.time = to
	}
}
