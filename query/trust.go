package query

import (
	"context"
	"errors"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Trust says what of the tables may be read. A table may have lost files beside
// its rows, such as those of skip indexes, and still have all of its rows.
type Trust interface {
	// Primary says that nothing but the rows themselves is to be read.
	Primary() bool
	// Suspect is told of an error that a damaged file has caused. Primary is
	// true after it.
	Suspect(err error)
}

// damages are ClickHouse's codes for files that are not as they were written.
// They stand in its src/Common/ErrorCodes.cpp.
var damages = map[int32]string{
	23:  "CANNOT_READ_FROM_ISTREAM",
	27:  "CANNOT_PARSE_INPUT_ASSERTION_FAILED", // an empty text file
	32:  "ATTEMPT_TO_READ_AFTER_EOF",
	33:  "CANNOT_READ_ALL_DATA",
	40:  "CHECKSUM_DOESNT_MATCH",
	74:  "CANNOT_READ_FROM_FILE_DESCRIPTOR",
	76:  "CANNOT_OPEN_FILE",
	107: "FILE_DOESNT_EXIST",
	117: "INCORRECT_DATA",
	226: "NO_FILE_IN_DATA_PART",
	228: "BAD_SIZE_OF_FILE_IN_DATA_PART",
	246: "CORRUPTED_DATA",
	271: "CANNOT_DECOMPRESS",
	432: "UNKNOWN_CODEC",
	713: "BROKEN_PROJECTION",
}

// IsDamage says that ClickHouse met a file of a table that is not as it was
// written.
func IsDamage(err error) bool {
	answer := (*clickhouse.Exception)(nil)
	return errors.As(err, &answer) && damages[answer.Code] != ""
}

// trusting asks, and once more from the rows alone if what stands beside them
// turns out to be damaged.
func (r *Reader) trusting(ask func() error) error {
	err := ask()
	if r.trust == nil || !IsDamage(err) {
		return err
	}
	r.trust.Suspect(err)
	return ask()
}

// beside are the settings that make use of what stands beside the rows.
var beside = []string{"preferred_optimize_projection_name", "optimize_use_projections", "use_skip_indexes"}

// context carries the settings of the statement.
func (r *Reader) context(ctx context.Context, q statement) context.Context {
	settings := clickhouse.Settings{"max_execution_time": maxSeconds}
	primary := r.trust != nil && r.trust.Primary()
	for name, value := range q.settings {
		if !primary || !slices.Contains(beside, name) {
			settings[name] = value
		}
	}
	if primary {
		settings["optimize_use_projections"], settings["use_skip_indexes"] = 0, 0
	}
	return clickhouse.Context(ctx, clickhouse.WithSettings(settings))
}
