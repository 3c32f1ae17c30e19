package eventlog

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Progress is what a projector announces to all nodes after each commit: the facts
// up to Checkpoint are in the records, and these commands have answers.
type Progress struct {
	Checkpoint uint64            `json:"checkpoint"`
	Node       string            `json:"node,omitempty"`    // see [Log.Node]
	Answers    map[uint64]Answer `json:"answers,omitempty"` // by sequence of the command
}

// Answer is the projector's answer to a command, a JSON value.
type Answer = json.RawMessage

// AnnounceProgress sends p to every node, in the name of log.Node. A lost announcement does no harm: those
// who wait for an answer also poll the stored answers.
func AnnounceProgress(log Log, p Progress) error {
	p.Node = log.Node
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode progress: %w", err)
	}
	if err := log.NATS.Publish(log.Prefix+subjectFolded, data); err != nil {
		return fmt.Errorf("announce progress: %w", err)
	}
	return nil
}

// FollowProgress calls on for each announcement of a projector of log.Node until stop is
// called. Announcements may be lost, so the caller must also poll.
func FollowProgress(log Log, on func(Progress)) (stop func() error, err error) {
	sub, err := log.NATS.Subscribe(log.Prefix+subjectFolded, func(m *nats.Msg) {
		var p Progress
		if json.Unmarshal(m.Data, &p) == nil && p.Node == log.Node { // else it is not from Errata, or about other records
			on(p)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribe to progress: %w", err)
	}
	return sub.Unsubscribe, nil
}

// Progressed returns a [FollowProgress] for those who need not know how far it is.
func Progressed(log Log) func(on func()) (stop func() error, err error) {
	return func(on func()) (func() error, error) {
		return FollowProgress(log, func(Progress) { on() })
	}
}
