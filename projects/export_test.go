package projects

import (
	"testing"
	"time"
)

// SetMaking changes for how long another node may make the key of a new project.
func SetMaking(t *testing.T, to time.Duration) {
	was := making
	making = to
	t.Cleanup(func() { making = was })
}
