package query

import (
	"context"
	"errors"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Trust says which files of the tables may be read. A table may have all of its
// rows although files of skip indexes or ClickHouse projections are damaged.
type Trust interface {
	// Primary says that only the rows themselves may be read.
	Primary() bool
	// Suspect receives an error that a damaged file caused. After the call,
	// Primary is true.
	Suspect(err error)
}

// damages are ClickHouse's codes for damaged files. They stand in ClickHouse's
// src/Common/ErrorCodes.cpp.
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

// IsDamage says whether err comes from ClickHouse and names a damaged file of a
// table.
func IsDamage(err error) bool {
	answer := (*clickhouse.Exception)(nil)
	return errors.As(err, &answer) && damages[answer.Code] != ""
}

// trusting calls ask, when records may be shown. When that finds a damaged file, it
// reports the damage and calls ask once more, which then reads only the rows.
func (r *Reader) trusting(ask func() error) error {
	if err := r.ready(); err != nil {
		return err
	}
	err := ask()
	if r.trust == nil || !IsDamage(err) {
		return err
	}
	r.trust.Suspect(err)
	return ask()
}

// beside are the settings that use skip indexes and ClickHouse projections.
var beside = []string{"preferred_optimize_projection_name", "optimize_use_projections", "use_skip_indexes"}

// context returns ctx with the settings of the statement. Without trust in other
// files, the query reads only the rows.
func (r *Reader) context(ctx context.Context, q statement) context.Context {
	settings := clickhouse.Settings{"max_execution_time": r.seconds}
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
