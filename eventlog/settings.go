package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// Setting is a fact that gives a setting a value. The newest one of a name is in
// force.
type Setting struct {
	Name     string
	Sequence uint64
	Data     []byte
	By       errata.Actor // who set it
}

// ProjectSettings begins the names of the settings that are projects: project.7 is the
// one with the number 7.
const ProjectSettings = "project."

// ErrSettingMoved says that another caller has set the setting since it was read.
// Read it again, then decide again.
var ErrSettingMoved = errors.New("the setting was set by somebody else meanwhile")

// JetStream's error codes for a publish whose expectation does not hold.
const (
	codeWrongLastSequence         = 10071
	codeWrongLastSequenceConstant = 10164
)

// settingTimeout bounds reading or writing a setting. It is longer than the
// election of a leader, and short enough for a person who waits.
const settingTimeout = 8 * time.Second

// AppendSetting puts a new value of the setting on the log in the name of
// [errata.ActorOf](ctx), if the newest value is still the one at sequence after (0:
// there is none). It tries until the outcome is known. Errors: ErrSettingMoved;
// log_full; log_unavailable when the outcome is not known in time.
func AppendSetting(ctx context.Context, log Log, name string, data []byte, after uint64) (sequence uint64, err error) {
	return appendSetting(ctx, log, name, name, data, after)
}

// AppendSettingIn is AppendSetting for a setting of a family: those whose names begin
// alike, with a dot at the end. The newest fact of the whole family must be the one at
// sequence after. So a change can keep what holds for the family as a whole.
func AppendSettingIn(ctx context.Context, log Log, family, name string, data []byte, after uint64) (sequence uint64, err error) {
	return appendSetting(ctx, log, family+">", name, data, after)
}

// appendSetting compares after with the newest fact of the settings in the pattern: a
// name, or a family with ">".
func appendSetting(ctx context.Context, log Log, pattern, name string, data []byte, after uint64) (sequence uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	msgID := nuid.Next()
	compared := log.Prefix + subjectSettings + pattern
	return untilKnown(ctx, func(err error) error {
		return logAway("the log could not confirm the change in time, and it may still take effect; look at the settings before you send it again",
			fmt.Errorf("append setting %s: %w", name, err))
	}, func() (uint64, error) {
		msg := &nats.Msg{Subject: log.Prefix + subjectSettings + name, Data: data, Header: withSum(actorHeader(ctx), subjectSettings+name, data)}
		sequence, err := publishMsg(ctx, log, msg, msgID, jetstream.WithExpectLastSequenceForSubject(after, compared))
		if !isMoved(err) {
			return sequence, err
		}
		// The next message may be that of an earlier try, whose answer was lost.
		// Exactly one message can come next after the expected one.
		next, found, getErr := getMessage(ctx, log, messageQuery{Sequence: after + 1, NextFor: compared})
		switch {
		case getErr == nil && found && next.id() == msgID:
			return next.sequence, nil
		case getErr == nil && found:
			return 0, ErrSettingMoved
		case getErr == nil && after > 0:
			if after, getErr = expectation(ctx, log, compared, after); getErr != nil {
				err = getErr
			}
		}
		return 0, err // the other message is still on its way into a replicated log
	})
}

// expectation returns the sequence that the server has for the last fact of the
// subjects whose newest readable fact is at after. When the newest fact is damaged, the
// server may find no fact at all, and the sequence is 0.
func expectation(ctx context.Context, log Log, subjects string, after uint64) (uint64, error) {
	newest, found, err := getMessage(ctx, log, messageQuery{LastFor: subjects})
	if err != nil || found && newest.sequence >= after {
		return after, err
	}
	older, there, err := getMessage(ctx, log, messageQuery{Sequence: after})
	if err != nil || !there || !within(older.subject, subjects) {
		return after, err
	}
	return newest.sequence, nil
}

// within says whether the subject is one of the subjects, which may end in ">".
func within(subject, subjects string) bool {
	family, open := strings.CutSuffix(subjects, ">")
	return subject == subjects || open && strings.HasPrefix(subject, family)
}

// isMoved says whether a publish failed because its expectation does not hold.
func isMoved(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == codeWrongLastSequence || api.ErrorCode == codeWrongLastSequenceConstant)
}

// LastSetting reads the newest fact of the setting; found is false when it was
// never set. It asks the leader of the stream, and so sees what any node has
// written before. Errors: log_unavailable.
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

// lastReadable searches the whole log for the newest readable fact of a setting. It
// is for a setting whose newest fact is damaged: the one before it is in force.
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

// SettingBefore finds the newest fact of the setting before a sequence for which
// good returns true. It is for a setting whose newest fact cannot be decoded.
// Errors: log_unavailable.
func SettingBefore(ctx context.Context, log Log, name string, before uint64, good func(data []byte) bool) (s Setting, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	m, found, err := messageBefore(ctx, log, subjectSettings+name, before, func(m message) bool { return m.sound(log) && good(m.data) })
	if err != nil {
		return Setting{}, false, settingsAway(fmt.Errorf("read setting %s before %d: %w", name, before, err))
	}
	return m.setting(log), found, nil
}

// SettingsAfter returns the facts of a family behind a sequence, oldest first and
// without damaged ones, and the sequence of the last fact, damaged or not. It asks the
// leader of the stream, once for each fact. Errors: log_unavailable.
func SettingsAfter(ctx context.Context, log Log, family string, after uint64) (facts []Setting, last uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	last = after
	for tries := retryPauses.Begin(); ; {
		err = nil
		for m, failed := range messagesFrom(ctx, log, subjectSettings+family+">", last+1) {
			if err = failed; err != nil {
				break
			}
			if last = m.sequence; m.sound(log) {
				facts = append(facts, m.setting(log))
			}
		}
		if err == nil {
			return facts, last, nil
		}
		if !tries.Wait(ctx) {
			return nil, 0, settingsAway(fmt.Errorf("read the settings %s after %d: %w", family, after, err))
		}
	}
}

// SettingNames returns the names of a family that have facts, and a sequence: no fact up
// to it has another name. Errors: log_unavailable.
func SettingNames(ctx context.Context, log Log, family string) (names []string, upTo uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, settingTimeout)
	defer cancel()
	subjects := log.Prefix + subjectSettings + family + ">"
	for tries := retryPauses.Begin(); ; {
		var newest message
		newest, _, err = getMessage(ctx, log, messageQuery{LastFor: subjects})
		if err == nil {
			names, err = namesUnder(ctx, log, subjects)
		}
		if err == nil {
			return names, newest.sequence, nil
		}
		if !tries.Wait(ctx) {
			return nil, 0, settingsAway(fmt.Errorf("list the settings %s: %w", family, err))
		}
	}
}

func namesUnder(ctx context.Context, log Log, subjects string) (names []string, err error) {
	stream, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subjects))
	if err != nil {
		return nil, fmt.Errorf("list subjects of the log: %w", err)
	}
	for subject := range info.State.Subjects {
		names = append(names, strings.TrimPrefix(subject, log.Prefix+subjectSettings))
	}
	slices.Sort(names)
	return names, nil
}

func settingsAway(err error) error {
	return logAway("the log, where the settings are kept, did not answer in time; try again shortly", err)
}
