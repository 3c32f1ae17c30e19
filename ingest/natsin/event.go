package natsin

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
)

// headerID is the header with the event id of a message that is published again. With
// Nats-Msg-Id the queue would drop the message as a repeat.
const headerID = "Errata-Id"

// sourceName is the source in the payload of these events. It also replaces the id of
// a key.
const sourceName = "nats"

// message is one message of the queue.
type message struct {
	subject  string // without the namespace
	data     []byte
	header   func(name string) string
	sequence uint64
	stamp    int64 // when the queue took it, Unix nanoseconds
}

// id is the event id of the message if the event has none. Sequence and time make it
// unique, also on a queue that was restored from a backup and uses sequences again.
func (m *message) id(epoch int64) string {
	for _, name := range []string{headerID, jetstream.MsgIDHeader} {
		if id := m.header(name); id != "" {
			return id
		}
	}
	return fmt.Sprintf("nats-%x-%d-%x", epoch, m.sequence, m.stamp)
}

// draft reads the event of the message. The error is the reason to refuse it.
func (m *message) draft(epoch int64) (ingest.Draft, *errata.Error) {
	name, known := strings.CutPrefix(m.subject, subjectEvents)
	book, ok := errata.ParseBook(name)
	if !known || !ok {
		return ingest.Draft{}, errata.Errorf(errata.KindInvalidType, "publish to %ssystem or %[1]sdatabase", subjectEvents)
	}
	if len(m.data) > ingest.MaxEvent {
		return ingest.Draft{}, errata.Errorf(errata.KindBodyTooLarge, "the event has more than %d bytes", ingest.MaxEvent)
	}
	draft, err := native.ParseEvent(m.data)
	if err != nil {
		return ingest.Draft{}, asTold(err)
	}
	draft.Book = book
	draft.Context.Source = sourceName
	if draft.ClientID == "" {
		draft.ClientID = m.id(epoch)
	}
	return draft, nil
}
