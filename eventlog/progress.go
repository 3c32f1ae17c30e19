package eventlog

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Progress is what a projector tells everybody after each commit: the log is
// folded and visible up to Checkpoint, and these commands were answered.
type Progress struct {
	Checkpoint uint64            `json:"checkpoint"`
	Answers    map[uint64]Answer `json:"answers,omitempty"` // by sequence of the command
}

// Answer is what the projector made of a command: a JSON value.
type Answer = json.RawMessage

// AnnounceProgress tells it to every node. It is a hint for those who wait: a
// lost announcement costs them a poll of the stored answers, never the answer.
func AnnounceProgress(log Log, p Progress) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode progress: %w", err)
	}
	if err := log.NATS.Publish(log.Prefix+subjectFolded, data); err != nil {
		return fmt.Errorf("announce progress: %w", err)
	}
	return nil
}

// FollowProgress calls on for each announcement of any projector until stop is
// called. Announcements may be lost: who waits for one also polls.
func FollowProgress(log Log, on func(Progress)) (stop func() error, err error) {
	sub, err := log.NATS.Subscribe(log.Prefix+subjectFolded, func(m *nats.Msg) {
		var p Progress
		if json.Unmarshal(m.Data, &p) == nil { // anything else is not ours
			on(p)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe to progress: %w", err)
	}
	return sub.Unsubscribe, nil
}
