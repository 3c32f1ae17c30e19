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

type replayBody struct {
	Force bool `json:"force"`
}

// replay rebuilds the projection, however long that takes.
func (s *service) replay(c *call, body replayBody) (answer, error) {
	defer c.withoutDeadline()()
	return reply(s.Replayer.Replay(context.WithoutCancel(c.Request.Context()), body.Force))
}

// replaying says how far it is.
func (s *service) replaying(*call) (answer, error) {
	return answer{data: s.Replayer.Replaying()}, nil
}
