package eventlog

import (
	"context"
	"fmt"
)

// LastChange returns the sequence of the last command, setting or note on the log, 0
// when there is none.
func LastChange(ctx context.Context, log Log) (uint64, error) {
	var last uint64
	for _, kind := range []string{subjectCommands, subjectSettings, subjectNotes} {
		m, _, err := getMessage(ctx, log, messageQuery{LastFor: log.Prefix + kind + ">"})
		if err != nil {
			return 0, fmt.Errorf("last change on the log: %w", err)
		}
		last = max(last, m.sequence) // 0 when there is none
	}
	return last, nil
}
