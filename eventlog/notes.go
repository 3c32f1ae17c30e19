package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// NoteAlertFailed is the note that a message of alerts has not arrived.
	NoteAlertFailed = "alert-failed"
	// NoteNodeLeft is the note that somebody has taken a node out of the cluster.
	NoteNodeLeft = "node-left"
)

// AppendNote puts on the log, for the audit trail, what is no other fact of it; body becomes
// JSON. The actor of ctx has done it, the service itself when there is none. The log takes one note
// of a name with the id, which has no blanks. It tries until the outcome is known or settingTimeout
// is over. Kinds: log_full; log_unavailable when the outcome is not known.
func AppendNote(ctx context.Context, log Log, name, id string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode note %s: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	subject := subjectNotes + name + "." + id
	_, err = untilKnown(ctx, func(err error) error {
		return logAway("the log could not confirm the note in time", fmt.Errorf("append note %s: %w", subject, err))
	}, func() (uint64, error) {
		msg := &nats.Msg{Subject: log.Prefix + subject, Data: data, Header: withSum(actorHeader(ctx), subject, data)}
		sequence, err := publishMsg(ctx, log, msg, subject, jetstream.WithExpectLastSequencePerSubject(0))
		if isMoved(err) {
			return 0, nil // it is there
		}
		return sequence, err
	})
	return err
}

// noteName is the name of a note by what follows subjectNotes.
func noteName(rest string) string {
	name, _, _ := strings.Cut(rest, ".")
	return name
}
