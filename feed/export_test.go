package feed

import (
	"testing"
	"time"
)

// SetFarEvery makes a feed look at old records more often for a test, which
// must not be parallel.
func SetFarEvery(t *testing.T, d time.Duration) {
	was := farEvery
	farEvery = d
	t.Cleanup(func() { farEvery = was })
}
