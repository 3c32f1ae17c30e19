package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// CheckStored checks a fact that was read from a file of the log: its subject
// without the prefix, its header as it is stored, its data. Errors: ErrCorrupt.
func CheckStored(subject string, head, data []byte) error {
	var header nats.Header
	if len(head) > 0 {
		var err error
		if header, err = nats.DecodeHeadersMsg(head); err != nil {
			return fmt.Errorf("%w: header: %w", ErrCorrupt, err)
		}
	}
	if kind, _ := parseSubject(subject); kind == FactEvents {
		if _, err := DecodeBlock(data, nil); !errors.Is(err, ErrNewer) { // whose checksum is right
			return err
		}
		return nil
	}
	if !sound(subject, header, data) {
		return fmt.Errorf("%w: checksum", ErrCorrupt)
	}
	return nil
}

// StoredEvents is how many events a fact holds, 0 when it is not a block.
func StoredEvents(subject string, data []byte) uint64 {
	if kind, _ := parseSubject(subject); kind != FactEvents {
		return 0
	}
	b, err := BlockIDs(data)
	if err != nil {
		return 0
	}
	return uint64(b.Len())
}

// StoredKeep returns Keep of a fact that is a snapshot, 0 for any other: the facts
// before Keep may be purged.
func StoredKeep(subject string, data []byte) uint64 {
	var s Snapshot
	if subject != subjectCommands+CommandSnapshot || json.Unmarshal(data, &s) != nil {
		return 0
	}
	return s.Keep
}
