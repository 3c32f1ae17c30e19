package eventlog

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
)

// CheckStored says whether a fact that was read from a file is what was
// appended: subject behind the prefix, header as it is stored, data.
func CheckStored(subject string, head, data []byte) error {
	var header nats.Header
	if len(head) > 0 {
		var err error
		if header, err = nats.DecodeHeadersMsg(head); err != nil {
			return fmt.Errorf("%w: header: %w", ErrCorrupt, err)
		}
	}
	if kind, _ := parseSubject(subject); kind == FactEvents {
		_, err := DecodeBlock(data, nil)
		return err
	}
	if !sound(subject, header, data) {
		return fmt.Errorf("%w: checksum", ErrCorrupt)
	}
	return nil
}

// StoredEvents is how many events a fact holds, 0 for one that is no block.
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

// StoredKeep is up to which fact, and without it, a fact lets the log be purged;
// 0 for one that does not.
func StoredKeep(subject string, data []byte) uint64 {
	var s Snapshot
	if subject != subjectCommands+CommandSnapshot || json.Unmarshal(data, &s) != nil {
		return 0
	}
	return s.Keep
}
