package selfcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// mark is what the service leaves in its data folder for its next start.
type mark struct {
	// Sound is the time before which everything that was written is known to be
	// on the disk and whole: the last clean stop, or the beginning of the last
	// round through all parts. The zero time if there was none.
	Sound time.Time `json:"sound"`
	// Parts are the active parts of the last look, for tables without totals.
	Parts map[string]map[string]blocks `json:"parts,omitempty"` // by the table's uuid and the part's name
	// Aside are the parts that ClickHouse has set aside and that are logged
	// already, as table/name.
	Aside []string `json:"aside,omitempty"`
	// Mended is the last mend.
	Mended Mend `json:"mended,omitzero"`
}

// Mend is what was mended automatically, and when.
type Mend struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// readMark reads the mark. It returns the zero mark, with which every part is
// read, if there is no file or a power cut has damaged it.
func readMark(path string) (m mark, err error) {
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, fmt.Errorf("read the mark of the self-check: %w", err)
	}
	if json.Unmarshal(text, &m) != nil {
		return mark{}, nil //nolint:nilerr // every part is read then
	}
	return m, nil
}

// write replaces the mark.
func (m mark) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("write the mark of the self-check: %w", err)
	}
	return nil
}

// missing returns the parts of the mark whose blocks the active parts do not hold.
// Parts of a table that was exchanged for another one are left out.
func (m mark) missing(held map[string][]blocks, tables map[string]string) (gone []part) {
	for uuid, parts := range m.Parts {
		table, there := tables[uuid]
		for name, had := range parts {
			if there && !had.heldBy(held[table]) {
				gone = append(gone, part{table: table, uuid: uuid, name: name, blocks: had})
			}
		}
	}
	return gone
}

// note replaces the parts of the mark.
func (m *mark) note(now []part) {
	m.Parts = map[string]map[string]blocks{}
	for _, p := range now {
		if !followed(p.table) {
			continue
		}
		if m.Parts[p.uuid] == nil {
			m.Parts[p.uuid] = map[string]blocks{}
		}
		m.Parts[p.uuid][p.name] = p.blocks
	}
}
