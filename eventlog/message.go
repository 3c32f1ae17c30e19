package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

// messageQuery is the JSON body of a request for one message of a stream.
type messageQuery struct {
	Sequence uint64 `json:"seq,omitempty"`
	LastFor  string `json:"last_by_subj,omitempty"`
	NextFor  string `json:"next_by_subj,omitempty"`
}

// messageReply is the answer to a messageQuery. It has bytes as base64.
type messageReply struct {
	Error *struct {
		ErrorCode   int    `json:"err_code"`
		Description string `json:"description"`
	} `json:"error"`
	Message *struct {
		Subject  string    `json:"subject"`
		Sequence uint64    `json:"seq"`
		Header   []byte    `json:"hdrs"`
		Data     []byte    `json:"data"`
		Time     time.Time `json:"time"`
	} `json:"message"`
}

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

// getMessage asks the leader of the stream once. The client library would ask any
// replica, which may lack the newest messages.
func getMessage(ctx context.Context, log Log, query messageQuery) (m message, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	request, err := json.Marshal(query)
	if err != nil {
		return message{}, false, fmt.Errorf("encode a question to the log: %w", err)
	}
	answer, err := log.NATS.RequestWithContext(ctx, ordered.APIPrefix(log.JetStream)+"STREAM.MSG.GET."+log.Stream, request)
	if err != nil {
		return message{}, false, fmt.Errorf("ask the log for a message: %w", err)
	}
	var reply messageReply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return message{}, false, fmt.Errorf("decode the log's answer: %w", err)
	}
	switch {
	case reply.Error != nil && reply.Error.ErrorCode == codeNoMessage:
		return message{}, false, nil
	case reply.Error != nil:
		return message{}, false, fmt.Errorf("ask the log for a message: %s (%d)", reply.Error.Description, reply.Error.ErrorCode)
	case reply.Message == nil:
		return message{}, false, errors.New("the log answered without a message")
	}
	m = message{
		subject: reply.Message.Subject, sequence: reply.Message.Sequence,
		head: reply.Message.Header, data: reply.Message.Data, time: reply.Message.Time,
	}
	if len(reply.Message.Header) > 0 {
		// A header that cannot be read is not one of ours, and counts as none.
		m.header, _ = nats.DecodeHeadersMsg(reply.Message.Header)
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
