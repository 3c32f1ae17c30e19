package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
)

// Subjects of the log, without its prefix.
const (
	subjectEvents   = "ev."
	subjectCommands = "cmd."
	subjectSettings = "set."
	subjectSignIns  = "sig."
	subjectTicks    = "tick.minute"
	subjectNotes    = "note."
	// An Appender writes to subjectEvents + lane.
	lane = "0"
	// subjectFolded carries the announcements of projectors, which are not stored;
	// see Progress.
	subjectFolded = "folded"
)

// JetStream's error codes for a stream or store that has reached its limit.
// All of them mean that the message was not stored.
const (
	codeInsufficientResources = 10023
	codeStorageExceeded       = 10047
	codeStoreFailed           = 10077
)

// retryLater is how long a caller should wait when the log cannot take events.
const retryLater = 5 * time.Second

// publishMsg publishes once, waits for the PubAck and returns the sequence of the
// message.
func publishMsg(ctx context.Context, log Log, msg *nats.Msg, msgID string, opts ...jetstream.PublishOpt) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ack, err := log.JetStream.PublishMsg(ctx, msg, append(opts,
		jetstream.WithMsgID(msgID), jetstream.WithExpectStream(log.Stream), jetstream.WithRetryAttempts(0))...)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// retryPauses are the pauses between tries of one message.
var retryPauses = background.Pauses{First: 10 * time.Millisecond, Most: time.Second}

// untilKnown calls publish until its outcome is known: the message is on the log at
// the sequence, the log is full, or another writer was first. When ctx ends before
// that, the message may be on the log; the error is then unknown(the last error).
// [errata.WrittenOf](ctx) notes the sequence.
func untilKnown(ctx context.Context, unknown func(error) error, publish func() (uint64, error)) (uint64, error) {
	for tries := retryPauses.Begin(); ; {
		sequence, err := publish()
		if err == nil {
			errata.WrittenOf(ctx).Note(sequence)
		}
		if err == nil || errors.Is(err, ErrSettingMoved) || errata.KindOf(err) == errata.KindAlreadyRunning {
			return sequence, err
		}
		if full := asFull(err); full != nil {
			return 0, full
		}
		if !tries.Wait(ctx) {
			return 0, unknown(err)
		}
	}
}

// appendChange puts a change on the log in the name of [errata.ActorOf](ctx). The
// stream ignores a repeat with the same msgID. Errors: see untilKnown.
func appendChange(ctx context.Context, log Log, subject string, data []byte, msgID string, unknown func(error) error) (uint64, error) {
	return untilKnown(ctx, unknown, func() (uint64, error) {
		msg := &nats.Msg{Subject: log.Prefix + subject, Data: data, Header: withSum(actorHeader(ctx), subject, data)}
		return publishMsg(ctx, log, msg, msgID)
	})
}

// headerBy carries the actor of a command or setting, as JSON.
const headerBy = "Errata-By"

// actorHeader is a header with the actor of ctx.
func actorHeader(ctx context.Context) nats.Header {
	by, err := json.Marshal(errata.ActorOf(ctx))
	if err != nil {
		panic(err) // strings always encode
	}
	return nats.Header{headerBy: []string{string(by)}}
}

// actorIn reads the actor from a header; the zero Actor when there is none.
func actorIn(h nats.Header) (a errata.Actor) {
	if text := h.Get(headerBy); text != "" && json.Unmarshal([]byte(text), &a) != nil {
		return errata.Actor{}
	}
	return a
}

// asFull returns an error of the kind log_full when err says that the log has
// reached its limit, else nil.
func asFull(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return nil
	}
	switch api.ErrorCode {
	case codeInsufficientResources, codeStorageExceeded, codeStoreFailed:
		return &errata.Error{
			Kind:       errata.KindLogFull,
			Message:    "the log has reached its size limit; raise log-max-bytes or free the disk, then send again",
			RetryAfter: retryLater, Err: err,
		}
	}
	return nil
}

func unavailable(err error) error {
	return logAway("the log could not confirm the events in time; send them again", err)
}

// logAway makes an error of the kind log_unavailable. The message says what the
// caller can do next.
func logAway(message string, err error) error {
	return &errata.Error{Kind: errata.KindLogUnavailable, Message: message, RetryAfter: retryLater, Err: err}
}
