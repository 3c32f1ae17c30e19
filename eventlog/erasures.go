package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
)

// Erasure is an erasure on the log. Events before Sequence are still there as they came,
// also those of the persons.
type Erasure struct {
	Sequence uint64
	Erase
}

// Erasures reads the erasures on the log from a sequence on, the oldest first.
func Erasures(ctx context.Context, log Log, from uint64) (list []Erasure, err error) {
	for m, err := range messagesFrom(ctx, log, subjectCommands+CommandErase, max(from, 1)) {
		if err != nil {
			return nil, fmt.Errorf("read the erasures: %w", err)
		}
		e := Erasure{Sequence: m.sequence}
		if json.Unmarshal(m.data, &e.Erase) == nil { // one that cannot be read was refused
			list = append(list, e)
		}
	}
	return list, nil
}
