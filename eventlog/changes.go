package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// LastChange is the sequence of the last command or setting on the log, 0 when
// there is none.
func LastChange(ctx context.Context, log Log) (uint64, error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return 0, fmt.Errorf("open the log %s: %w", log.Stream, err)
	}
	var last uint64
	for _, kind := range []string{subjectCommands, subjectSettings} {
		msg, err := s.GetLastMsgForSubject(ctx, log.Prefix+kind+">")
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("last change on the log: %w", err)
		}
		last = max(last, msg.Sequence)
	}
	return last, nil
}
