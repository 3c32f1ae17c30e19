package api

import (
	"context"

	"github.com/errata-log/errata/ops"
)

// Replayer rebuilds the projection from the log beside the live one and swaps
// it in.
type Replayer interface {
	// Replay returns when it is done. A rebuilt projection that differs from
	// the live one is thrown away unless force is set. Errors: already_running,
	// history_incomplete, projection_differs with the result as details,
	// log_unavailable, store_unavailable.
	Replay(ctx context.Context, force bool) (ops.ReplayResult, error)
	// Replaying says how far the replay under way is.
	Replaying() ops.ReplayProgress
}

// replay rebuilds the projection, however long that takes.
func (s *service) replay(c *call) (answer, error) {
	var body struct {
		Force bool `json:"force"`
	}
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	defer c.withoutDeadline()()
	result, err := s.Replayer.Replay(context.WithoutCancel(c.Request.Context()), body.Force)
	return answer{data: result}, err
}

// replaying says how far it is.
func (s *service) replaying(*call) (answer, error) {
	return answer{data: s.Replayer.Replaying()}, nil
}
