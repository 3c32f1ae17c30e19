package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// Setting is one fact that a setting has a value now. The newest of a name is
// in force.
type Setting struct {
	Name string
	// Sequence is its place on the log.
	Sequence uint64
	Data     []byte
	// By is who asked for it.
	By errata.Actor
}

// ErrSettingMoved says that somebody else has set the setting since it was
// read. Read it again and decide anew.
var ErrSettingMoved = errors.New("the setting was set by somebody else meanwhile")

// JetStream's error codes for a publish whose expectation does not hold, and
// for a message that is not there.
const (
	codeWrongLastSequence         = 10071
	codeWrongLastSequenceConstant = 10164
	codeNoMessage                 = 10037
)

// settingTimeout bounds reading or writing a setting: a leader is elected in
// less, and a person waits for the answer.
const settingTimeout = 8 * time.Second

// AppendSetting puts a new value of the setting on the log in the name of
// [errata.ActorOf](ctx), provided that the newest one is still the one at
// sequence after (0: there is none). It tries until the outcome is known.
// Errors: ErrSettingMoved; log_full; log_unavailable when the outcome is not
// known in time.
func AppendSetting(ctx context.Context, log Log, name string, data []byte, after uint64) (sequence uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	msgID := nuid.Next()
	subject := log.Prefix + subjectSettings + name
	return untilKnown(ctx, func(err error) error {
		return logAway("the log could not confirm the change in time, and it may still take effect; look at the settings before you send it again",
			fmt.Errorf("append setting %s: %w", name, err))
	}, func() (uint64, error) {
		msg := &nats.Msg{Subject: subject, Data: data, Header: withSum(actorHeader(ctx), subjectSettings+name, data)}
		sequence, err := publishMsg(ctx, log, msg, msgID, jetstream.WithExpectLastSequencePerSubject(after))
		if !isMoved(err) {
			return sequence, err
		}
		// Perhaps by an earlier try of this very message, whose answer was
		// lost. Exactly one message can stand next after the expected one.
		next, found, getErr := getMessage(ctx, log, messageQuery{Sequence: after + 1, NextFor: subject})
		switch {
		case getErr == nil && found && next.id() == msgID:
			return next.sequence, nil
		case getErr == nil && found:
			return 0, ErrSettingMoved
		case getErr == nil && after > 0:
			if after, getErr = expectation(ctx, log, name, after); getErr != nil {
				err = getErr
			}
		}
		return 0, err // somebody's message is on its way into a replicated log
	})
}

// expectation is what to expect of a setting whose newest fact is damaged: the
// server then finds none, while the value in force is an older one, at after.
func expectation(ctx context.Context, log Log, name string, after uint64) (uint64, error) {
	subject := log.Prefix + subjectSettings + name
	newest, found, err := getMessage(ctx, log, messageQuery{LastFor: subject})
	if err != nil || found && newest.sequence >= after {
		return after, err
	}
	older, there, err := getMessage(ctx, log, messageQuery{Sequence: after})
	if err != nil || !there || older.subject != subject {
		return after, err
	}
	return newest.sequence, nil
}

// isMoved says whether a publish failed because its expectation does not hold.
func isMoved(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == codeWrongLastSequence || api.ErrorCode == codeWrongLastSequenceConstant)
}

// LastSetting reads the newest fact of the setting; found is false when it was
// never set. The stream's leader is asked, so that a value which any node has
// written before is seen. Errors: log_unavailable.
func LastSetting(ctx context.Context, log Log, name string) (s Setting, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	for tries := retryPauses.Begin(); ; {
		var m message
		if m, found, err = getMessage(ctx, log, messageQuery{LastFor: log.Prefix + subjectSettings + name}); err == nil && (!found || !m.sound(log)) {
			m, found, err = lastReadable(ctx, log, name)
		}
		if err == nil {
			return m.setting(log), found, nil
		}
		if !tries.Wait(ctx) {
			return Setting{}, false, settingsAway(fmt.Errorf("read setting %s: %w", name, err))
		}
	}
}

// lastReadable looks for the newest fact of a setting from the first one on,
// where the server finds none: there is none, or the newest is damaged, and the
// one before it is in force.
func lastReadable(ctx context.Context, log Log, name string) (m message, found bool, err error) {
	for next, err := range messagesFrom(ctx, log, subjectSettings+name, 1) {
		if err != nil {
			return message{}, false, err
		}
		if next.sound(log) {
			m, found = next, true
		}
	}
	return m, found, nil
}

// SettingBefore is the newest fact of the setting before a sequence that good
// takes; found is false when there is none. It is for a setting whose newest
// fact cannot be read. Errors: log_unavailable.
func SettingBefore(ctx context.Context, log Log, name string, before uint64, good func(data []byte) bool) (s Setting, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	m, found, err := messageBefore(ctx, log, subjectSettings+name, before, func(m message) bool { return m.sound(log) && good(m.data) })
	if err != nil {
		return Setting{}, false, settingsAway(fmt.Errorf("read setting %s before %d: %w", name, before, err))
	}
	return m.setting(log), found, nil
}

func settingsAway(err error) error {
	return logAway("the log, where the settings are kept, did not answer in time; try again shortly", err)
}
