package projector

import (
	"encoding/json"
	"fmt"

	"github.com/errata-log/errata/eventlog"
)

// answerCommand applies a command at its place in the log and returns what its
// sender is told: a JSON object, with "error" when nothing was done.
func answerCommand(f *eventlog.Fact) eventlog.Answer {
	var answer any
	switch f.Name {
	case eventlog.CommandBarrier, eventlog.CommandPad:
		// They change nothing: their sender wants to know that all before
		// them is visible, or wants a sequence used up.
		answer = map[string]uint64{"sequence": f.Sequence}
	default:
		answer = map[string]string{"error": fmt.Sprintf("this version does not know the command %q", f.Name)}
	}
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return data
}
