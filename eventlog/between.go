package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// CommandsBetween reads the commands after one fact up to another, in order and
// at most a number of them. at is the fact up to which there is no other one:
// upto, unless there were too many. It asks once for each command, which is
// cheap where there are few.
func CommandsBetween(ctx context.Context, log Log, after, upto uint64, most int) (list []Fact, at uint64, err error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return nil, 0, fmt.Errorf("open the log %s: %w", log.Stream, err)
	}
	for at = after; at < upto; {
		if len(list) == most {
			return list, at, nil
		}
		msg, err := s.GetMsg(ctx, at+1, jetstream.WithGetMsgSubject(log.Prefix+subjectCommands+">"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return list, upto, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("next command after %d: %w", at, err)
		}
		if msg.Sequence > upto {
			return list, upto, nil
		}
		kind, name := parseSubject(strings.TrimPrefix(msg.Subject, log.Prefix))
		list = append(list, Fact{Sequence: msg.Sequence, Kind: kind, Name: name, Data: msg.Data, By: actorIn(msg.Header), Appended: msg.Time})
		at = msg.Sequence
	}
	return list, at, nil
}
