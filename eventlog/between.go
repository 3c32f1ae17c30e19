package eventlog

import (
	"context"
	"fmt"
)

// CommandsBetween reads the commands after one fact up to another, in order and
// at most a number of them. at is the fact up to which there is no other one:
// upto, unless there were too many. It asks once for each command, which is
// cheap where there are few.
func CommandsBetween(ctx context.Context, log Log, after, upto uint64, most int) (list []Fact, at uint64, err error) {
	for m, err := range messagesFrom(ctx, log, subjectCommands+">", after+1) {
		if err != nil {
			return nil, 0, fmt.Errorf("next command after %d: %w", after, err)
		}
		if m.sequence > upto {
			break
		}
		kind, name := parseSubject(m.behind(log))
		list = append(list, Fact{Sequence: m.sequence, Kind: kind, Name: name, Data: m.data, By: actorIn(m.header), Appended: m.time})
		if len(list) == most || m.sequence == upto {
			return list, m.sequence, nil
		}
	}
	return list, max(after, upto), nil
}
