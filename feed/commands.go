package feed

import (
	"context"
	"encoding/json"
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/query"
)

// maxCommands bounds the commands that one poll looks at. A script that deletes
// one record at a time makes a few hundred a second.
const maxCommands = 500

// Commands reads the commands on the log that change records, as
// Config.Commands. A command that cannot be read changed nothing.
func Commands(log eventlog.Log, answers eventlog.Answers) func(ctx context.Context, after, upto uint64) ([]Command, uint64, error) {
	return func(ctx context.Context, after, upto uint64) ([]Command, uint64, error) {
		facts, at, err := eventlog.CommandsBetween(ctx, log, after, upto, maxCommands)
		if err != nil {
			return nil, 0, err
		}
		var list []Command
		for _, f := range facts {
			c := Command{Sequence: f.Sequence}
			switch f.Name {
			case eventlog.CommandDelete, eventlog.CommandDeleteIn:
				c.Removes = recordsIn(f.Data)
			case eventlog.CommandStatus, eventlog.CommandStatusIn:
				c.Touches = recordsIn(f.Data)
			case eventlog.CommandCleanup, eventlog.CommandCleanupIn, eventlog.CommandMatching:
				c.Unnamed = unnamedBy(ctx, answers, f.Sequence)
				c.Within = withinOf(f.Data)
			default:
				continue
			}
			list = append(list, c)
		}
		return list, at, nil
	}
}

// recordsIn are the records, in both books, that a delete or a status names.
func recordsIn(data []byte) (keys []errata.RecordKey) {
	var body eventlog.Signatures
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	for _, text := range body.Signatures {
		signature, err := errata.ParseSignature(text)
		if err != nil {
			continue
		}
		for _, book := range errata.Books {
			keys = append(keys, errata.RecordKey{Book: book, Signature: signature})
		}
	}
	return keys
}

// withinOf are the projects that a command names.
func withinOf(data []byte) []uint64 {
	var body eventlog.Within
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return body.Projects
}

// concerns says whether the command may have changed records of the projects.
func (c Command) concerns(among query.Projects) bool {
	return len(c.Within) == 0 || slices.ContainsFunc(c.Within, among.Has)
}

// unnamedBy is how many records a command has changed that names none; 1 when nobody knows, so
// that listeners learn that there was one.
func unnamedBy(ctx context.Context, answers eventlog.Answers, sequence uint64) uint64 {
	answer, _, err := answers.Answer(ctx, sequence)
	var changed errata.Changed
	if err != nil || json.Unmarshal(answer, &changed) != nil {
		return 1
	}
	return changed.Total()
}
