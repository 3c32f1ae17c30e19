package eventlog

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

// messageQuery names one message of a stream.
type messageQuery = ordered.Query

// message is one message of the log.
type message struct {
	subject  string
	sequence uint64
	header   nats.Header
	head     []byte // the header as it is stored
	data     []byte
	time     time.Time // when the log took it
}

// bareSubject is the subject without the prefix of the log.
func (m message) bareSubject(log Log) string { return strings.TrimPrefix(m.subject, log.Prefix) }

// sound says whether the checksum of the message is right.
func (m message) sound(log Log) bool { return sound(m.bareSubject(log), m.header, m.data) }

func (m message) id() string { return m.header.Get(jetstream.MsgIDHeader) }

// setting returns the message as a Setting.
func (m message) setting(log Log) Setting {
	return Setting{
		Name:     strings.TrimPrefix(m.subject, log.Prefix+subjectSettings),
		Sequence: m.sequence, Data: m.data, By: actorIn(m.header),
	}
}

// getMessage asks the node that leads the log for a message; see [ordered.Ask].
func getMessage(ctx context.Context, log Log, query messageQuery) (m message, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	stored, found, err := ordered.Ask(ctx, log.JetStream, log.Stream, query)
	if err != nil || !found {
		return message{}, false, err
	}
	m = message{subject: stored.Subject, sequence: stored.Sequence, head: stored.Header, data: stored.Data, time: stored.Time}
	if len(stored.Header) > 0 {
		// A header that cannot be read is not one of ours, and counts as none.
		m.header, _ = nats.DecodeHeadersMsg(stored.Header)
	}
	return m, true, nil
}

// nextMessage finds the first fact at a sequence or after it.
func nextMessage(ctx context.Context, log Log, from uint64) (message, bool, error) {
	return getMessage(ctx, log, messageQuery{Sequence: from, NextFor: log.Prefix + ">"})
}

// messagesFrom yields the messages of a subject, which may end in ">", from a
// sequence to the end of the log. An error ends it. It asks the leader once for
// each message, so it is for subjects with few messages.
func messagesFrom(ctx context.Context, log Log, subject string, from uint64) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		for {
			m, found, err := getMessage(ctx, log, messageQuery{Sequence: from, NextFor: log.Prefix + subject})
			if err == nil && !found || !yield(m, err) || err != nil {
				return
			}
			from = m.sequence + 1
		}
	}
}

// lookBack is how many facts before a sequence are searched first; each next step
// searches lookFurther times as many.
const (
	lookBack    = 64
	lookFurther = 8
)

// messageBefore finds the newest message of the subject before a sequence for which
// good returns true. It is for the rare case that the newest one cannot be used.
func messageBefore(ctx context.Context, log Log, subject string, before uint64, good func(message) bool) (m message, found bool, err error) {
	for end, width := before, uint64(lookBack); end > 1; width *= lookFurther {
		begin := end - min(width, end-1) // the first sequence is 1
		for next, err := range messagesFrom(ctx, log, subject, begin) {
			if err != nil {
				return message{}, false, err
			}
			if next.sequence >= end {
				break
			}
			if good(next) {
				m, found = next, true
			}
		}
		if found {
			return m, true, nil
		}
		end = begin
	}
	return message{}, false, nil
}
