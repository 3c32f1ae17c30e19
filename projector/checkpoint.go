package projector

import (
	"encoding/json"
	"fmt"

	errata "github.com/errata-log/errata"
)

// FoldVersion is the version of the rules by which this program folds. It changes
// when the same log gives other records than before:
//
//	0  the level of a record is that of its first event
//	1  the level of a record is the highest of all its events
//	2  a record has a project, environments and releases
//	3  a record has its occurrences
const FoldVersion = foldOccurrences

const (
	foldLevels      = 1
	foldDimensions  = 2
	foldOccurrences = 3
)

// Checkpoint says how far the projection of a shard has come, and has what a
// projector needs to continue from there. It is written in the same block as its
// records.
type Checkpoint struct {
	// Row is the number of the checkpoint and the version of its row. It grows with
	// every checkpoint, also when one fact takes several inserts, and is never less
	// than Sequence.
	Row uint64 `json:"-"`
	// Sequence is the last folded fact; 0 before the first.
	Sequence uint64 `json:"sequence"`
	// Events is how many events were counted, Duplicates how many were repeats, Off
	// how many came while recording was off, Poison how many blocks were
	// unreadable.
	Events     uint64 `json:"events"`
	Duplicates uint64 `json:"duplicates"`
	Off        uint64 `json:"off,omitempty"`
	Poison     uint64 `json:"poison"`
	// Deployed is how many of Events are in the table deployments. An older version
	// did not count them there.
	Deployed uint64 `json:"deployed,omitempty"`
	// Occurred is how many of Events were counted in the table occurrences, likewise.
	Occurred uint64 `json:"occurred,omitempty"`
	// WindowFrom is the first sequence that the window of event ids needs,
	// WindowTime the clock of the window there, in Unix milliseconds.
	WindowFrom uint64 `json:"window_from"`
	WindowTime int64  `json:"window_time"`
	// Log is when the stream of the log was created, in Unix nanoseconds. Sequences
	// of another log say nothing about this one.
	Log int64 `json:"log"`
	// RecordingOff says that events are not counted at this place of the log.
	RecordingOff bool `json:"recording_off,omitempty"`
	// Fold is the FoldVersion by which all records were made, or an older one when
	// some of them were made by that.
	Fold int `json:"fold,omitempty"`
	// Budget is the budget of new records at this place of the log.
	Budget budget `json:"budget,omitzero"`
	// Totals are what the tables must add up to at this checkpoint.
	Totals Totals `json:"totals,omitzero"`
	// Sweep is how far the command after Sequence has come, when it has begun.
	Sweep SweepProgress `json:"sweep,omitzero"`
}

// SweepProgress is a cleanup or erasure that takes several inserts. The signatures
// are cut into Chunks ranges; Done says how many ranges are finished.
type SweepProgress struct {
	Sequence     uint64         `json:"sequence"`
	Chunks, Done int            `json:",omitempty"`
	Removed      errata.Changed `json:"removed"`
}

// Outdated says that an older version has made some of the records, so that the log
// gives others now. A replay makes them again.
func (c Checkpoint) Outdated() bool { return c.Row != 0 && c.Fold < FoldVersion }

// next returns the checkpoint after c.
func (c Checkpoint) next(sequence uint64) Checkpoint {
	c.Row = max(c.Row+1, sequence)
	c.Sequence = sequence
	c.Sweep = SweepProgress{}
	return c
}

// encode returns the text of the row.
func (c Checkpoint) encode() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode checkpoint %d: %w", c.Sequence, err)
	}
	return string(text), nil
}

// decodeCheckpoint reads a row: its version, its count, its text and its sign.
func decodeCheckpoint(row, count uint64, text string, sign int64) (Checkpoint, error) {
	cp := Checkpoint{}
	if err := json.Unmarshal([]byte(text), &cp); err != nil {
		return Checkpoint{}, fmt.Errorf("decode the checkpoint of row %d: %w", row, err)
	}
	cp.Row = row
	_, spent := openSpending(cp.Budget.Spent)
	if _, own := openOwn(cp.Budget.Own); !spent || !own || sign != 1 || cp.Sequence > row || cp.Events != count {
		return Checkpoint{}, fmt.Errorf("the checkpoint of row %d contradicts itself", row)
	}
	return cp, nil
}

// readFrom is the first fact to read behind the checkpoint: the window of ids needs some
// that are folded already. first is the oldest fact on the log.
func (c Checkpoint) readFrom(first uint64) uint64 {
	from := c.Sequence + 1
	if c.Sequence == 0 {
		from = first
	} else if c.WindowFrom != 0 {
		from = min(from, max(c.WindowFrom, first))
	}
	return max(from, 1)
}
