package eventlog

import (
	"context"
	"fmt"
)

// CommandsBetween returns the commands with sequences from after+1 to upto, in
// order, and at most a number of them. It has read the log up to the sequence at,
// which is upto unless there are more commands. It sends one question for each
// command, so it is for stretches with few of them.
func CommandsBetween(ctx context.Context, log Log, after, upto uint64, most int) (list []Fact, at uint64, err error) {
	for m, err := range messagesFrom(ctx, log, subjectCommands+">", after+1) {
		if err != nil {
			return nil, 0, fmt.Errorf("next command after %d: %w", after, err)
		}
		if m.sequence > upto {
			break
		}
		kind, name := parseSubject(m.bareSubject(log))
		list = append(list, Fact{Sequence: m.sequence, Kind: kind, Name: name, Data: m.data, By: actorIn(m.header), Appended: m.time})
		if len(list) == most || m.sequence == upto {
			return list, m.sequence, nil
		}
	}
	return list, max(after, upto), nil
}
