package projector

import (
	"encoding/json"
	"fmt"

	errata "github.com/errata-log/errata"
)

// Checkpoint says how far the projection of a shard has come, and what a
// projector needs to go on from there. It is written in the same block as the
// records that it vouches for.
type Checkpoint struct {
	// Row numbers the checkpoints: it grows with every one, also where one
	// fact takes several inserts, and is never below Sequence. It is the
	// version of the checkpoint's row.
	Row uint64 `json:"-"`
	// Sequence is the last fact applied; 0 before the first.
	Sequence uint64 `json:"sequence"`
	// Events counts the occurrences counted so far, Duplicates those that were
	// recognised as repeats, Off those that came while recording was switched
	// off, Poison the blocks that could not be read.
	Events     uint64 `json:"events"`
	Duplicates uint64 `json:"duplicates"`
	Off        uint64 `json:"off,omitempty"`
	Poison     uint64 `json:"poison"`
	// WindowFrom is the first sequence that the window of event ids needs, and
	// WindowTime the window's clock there, in Unix milliseconds.
	WindowFrom uint64 `json:"window_from"`
	WindowTime int64  `json:"window_time"`
	// Log tells one log from another: when its stream was created, in Unix
	// nanoseconds. Sequences mean nothing in another log.
	Log int64 `json:"log"`
	// RecordingOff: at this place of the log, events are not counted.
	RecordingOff bool `json:"recording_off,omitempty"`
	// Budget is that of new records at this place of the log.
	Budget budget `json:"budget,omitzero"`
	// Totals are what the tables must add up to at this checkpoint.
	Totals Totals `json:"totals,omitzero"`
	// Sweep is how far the cleanup behind Sequence has come, if one is under way.
	Sweep SweepProgress `json:"sweep,omitzero"`
}

// SweepProgress is a cleanup that takes several inserts: the keys are cut into
// Chunks ranges, of which Done are finished.
type SweepProgress struct {
	Sequence     uint64         `json:"sequence"`
	Chunks, Done int            `json:",omitempty"`
	Removed      errata.Changed `json:"removed"`
}

// next is the checkpoint row that follows c.
func (c Checkpoint) next(sequence uint64) Checkpoint {
	c.Row = max(c.Row+1, sequence)
	c.Sequence = sequence
	c.Sweep = SweepProgress{}
	return c
}

// encode is the text of the row.
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
	if _, ok := openSpending(cp.Budget.Spent); !ok || sign != 1 || cp.Sequence > row || cp.Events != count {
		return Checkpoint{}, fmt.Errorf("the checkpoint of row %d contradicts itself", row)
	}
	return cp, nil
}
