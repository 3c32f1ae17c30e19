package api

import (
	"context"
	"net/http"
	"time"

	"github.com/errata-log/errata/logcare"
)

// Replayer rebuilds the projection from the log beside the live one and swaps
// it in.
type Replayer interface {
	// Replay returns when it is done. A rebuilt projection that differs from
	// the live one is thrown away unless force is set. Errors: already_running,
	// history_incomplete, projection_differs with the result as details,
	// log_unavailable, store_unavailable.
	Replay(ctx context.Context, force bool) (ReplayResult, error)
	// Replaying says how far the replay under way is.
	Replaying() ReplayProgress
}

// ReplayResult is the outcome of a replay.
type ReplayResult struct {
	// Swapped says that the rebuilt projection is shown now.
	Swapped bool `json:"swapped"`
	// From is the first fact that was read, Facts how many.
	From  uint64 `json:"from"`
	Facts uint64 `json:"facts"`
	// Events is how many events were counted again.
	Events uint64 `json:"events"`
	TookMS int64  `json:"took_ms"`
	// PausedMS is how long new events had to wait for the swap.
	PausedMS    int64    `json:"paused_ms"`
	Live        any      `json:"live"`
	Replayed    any      `json:"replayed"`
	Differences []string `json:"differences"`
	// Gaps are the facts that the log lacks, accepted or not.
	Gaps []logcare.Gap `json:"gaps"`
}

// ReplayProgress is how far a replay has come: the last fact folded of those up
// to the target.
type ReplayProgress struct {
	Running  bool   `json:"running"`
	Sequence uint64 `json:"sequence"`
	Target   uint64 `json:"target"`
	Events   uint64 `json:"events"`
}

// replay rebuilds the projection, however long that takes.
func (s *service) replay(c *call) (answer, error) {
	var body struct {
		Force bool `json:"force"`
	}
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	control := http.NewResponseController(c.Writer)
	_ = control.SetWriteDeadline(time.Time{}) // without a connection there is none
	result, err := s.Replayer.Replay(context.WithoutCancel(c.Request.Context()), body.Force)
	_ = control.SetWriteDeadline(time.Now().Add(answerTime))
	if err != nil {
		return answer{}, err
	}
	return answer{data: result}, nil
}

// replaying says how far it is.
func (s *service) replaying(*call) (answer, error) {
	return answer{data: s.Replayer.Replaying()}, nil
}
