package natsin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Headers of a dead letter.
const (
	headerWhy     = "Errata-Why"
	headerSubject = "Errata-Subject"
	headerCut     = "Errata-Cut"
)

const (
	// maxLetter bounds the bytes that are kept of a message.
	maxLetter = 64 << 10
	// maxWhy bounds the reason that is kept with it.
	maxWhy = 512
	// letterTimeout bounds one write to a stream.
	letterTimeout = 5 * time.Second
	// MaxLetters bounds the letters that one call of List returns.
	MaxLetters = 100
)

// Letter is a dead letter: a message that was refused.
type Letter struct {
	ID      uint64         `json:"id"`
	At      errata.Instant `json:"at"`      // when it was refused
	Subject string         `json:"subject"` // that it was published to, without the namespace
	Reason  errata.Kind    `json:"reason"`
	Why     string         `json:"message"`
	// Body is the message without its secrets, at most 64 KiB. Cut says that the
	// message was longer: then it cannot be published again.
	Body string `json:"body"`
	Cut  bool   `json:"cut"`
}

// LetterNote is a letter that was not replayed or dropped, and the reason.
type LetterNote struct {
	ID  uint64 `json:"id"`
	Why string `json:"reason"`
}

// Letters is the stream of dead letters. It is safe for concurrent use.
type Letters struct {
	queues Queues
	rules  ingest.Rules
}

// NewLetters gives the dead letters of the queues. The rules scrub them.
func NewLetters(q Queues, rules ingest.Rules) *Letters { return &Letters{q, rules} }

// put keeps a refused message as a dead letter. The message id makes a second try
// the same letter.
func (l *Letters) put(ctx context.Context, m *message, epoch int64, refused *errata.Error) error {
	body, cut := l.body(m.data)
	header := nats.Header{
		headerSubject: {m.subject},
		headerWhy:     {l.rules.Text(refused.Message, maxWhy, false)},
		headerID:      {l.rules.Text(m.id(epoch), ingest.MaxTag, false)},
	}
	if cut {
		header.Set(headerCut, "1")
	}
	ctx, cancel := context.WithTimeout(ctx, letterTimeout)
	defer cancel()
	_, err := l.queues.JetStream.PublishMsg(ctx, &nats.Msg{
		Subject: l.queues.Prefix + subjectDead + string(refused.Kind), Data: []byte(body), Header: header,
	}, jetstream.WithMsgID(fmt.Sprintf("%x.%d", epoch, m.sequence)), jetstream.WithExpectStream(l.queues.Dead))
	if err != nil {
		return fmt.Errorf("keep a refused message: %w", err)
	}
	return nil
}

// body is the message as it is kept. A JSON object is scrubbed by its keys, anything
// else as text.
func (l *Letters) body(data []byte) (body string, cut bool) {
	if len(data) <= 2*maxLetter {
		if clean, err := l.rules.Scrubber.JSON(data); err == nil && len(clean) <= maxLetter {
			return string(clean), false
		}
	}
	return l.rules.Text(string(data), maxLetter, true), len(data) > maxLetter
}

func (l *Letters) stream(ctx context.Context) (jetstream.Stream, error) {
	stream, err := l.queues.JetStream.Stream(ctx, l.queues.Dead)
	if err != nil {
		return nil, awayFor(fmt.Errorf("open the stream of refused messages: %w", err))
	}
	return stream, nil
}

// List gives the letters with larger ids than after, oldest first, at most limit and
// at most [MaxLetters], and the number of all letters. Errors: log_unavailable.
func (l *Letters) List(ctx context.Context, after uint64, limit int) (letters []Letter, total uint64, err error) {
	stream, err := l.stream(ctx)
	if err != nil {
		return nil, 0, err
	}
	for at := after + 1; len(letters) < min(limit, MaxLetters); {
		msg, found, err := l.next(ctx, stream, at)
		if err != nil {
			return nil, 0, err
		}
		if !found {
			break
		}
		letters = append(letters, l.letter(msg))
		at = msg.Sequence + 1
	}
	return letters, stream.CachedInfo().State.Msgs, nil
}

// Check says how many messages were refused.
func (l *Letters) Check(ctx context.Context) errata.Check {
	c := errata.Check{Name: "events from NATS"}
	_, total, err := l.List(ctx, 0, 0)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	c.OK, c.Detail = true, fmt.Sprintf("%d refused messages", total)
	if total > 0 {
		c.Hint = `"errata dead list" shows them and why`
	}
	return c
}

// next is the first message from the sequence at on.
func (l *Letters) next(ctx context.Context, stream jetstream.Stream, at uint64) (msg *jetstream.RawStreamMsg, found bool, err error) {
	msg, err = stream.GetMsg(ctx, at, jetstream.WithGetMsgSubject(l.queues.Prefix+subjectDead+">"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, awayFor(fmt.Errorf("read the refused messages from %d: %w", at, err))
	}
	return msg, true, nil
}

func (l *Letters) letter(msg *jetstream.RawStreamMsg) Letter {
	return Letter{
		ID: msg.Sequence, At: errata.Instant(msg.Time),
		Subject: msg.Header.Get(headerSubject),
		Reason:  errata.Kind(strings.TrimPrefix(msg.Subject, l.queues.Prefix+subjectDead)),
		Why:     msg.Header.Get(headerWhy), Body: string(msg.Data), Cut: msg.Header.Get(headerCut) != "",
	}
}

// Replay publishes the letters with the ids again and drops each that the queue
// took. nil means all letters. A message that is refused again becomes a new letter.
// An event counts once, however often it is published again. Errors: log_unavailable,
// log_full; letters before the error stay replayed.
func (l *Letters) Replay(ctx context.Context, ids []uint64) (replayed int, left []LetterNote, err error) {
	return l.each(ctx, ids, l.replay)
}

// Drop removes the letters with the ids. nil means all letters. Errors:
// log_unavailable.
func (l *Letters) Drop(ctx context.Context, ids []uint64) (dropped int, left []LetterNote, err error) {
	return l.each(ctx, ids, func(context.Context, *jetstream.RawStreamMsg) (string, error) { return "", nil })
}

// each calls do with each letter. It drops a letter unless do returns a reason to keep
// it.
func (l *Letters) each(ctx context.Context, ids []uint64, do func(context.Context, *jetstream.RawStreamMsg) (string, error)) (done int, left []LetterNote, err error) {
	stream, err := l.stream(ctx)
	if err != nil {
		return 0, nil, err
	}
	one := func(msg *jetstream.RawStreamMsg) error {
		why, err := do(ctx, msg)
		if err == nil && why == "" {
			if err = stream.DeleteMsg(ctx, msg.Sequence); errors.Is(err, jetstream.ErrMsgNotFound) || err == nil {
				done++
				return nil
			}
			err = awayFor(fmt.Errorf("drop the refused message %d: %w", msg.Sequence, err))
		}
		if why != "" {
			left = append(left, LetterNote{msg.Sequence, why})
		}
		return err
	}
	if ids == nil {
		err := l.all(ctx, stream, one)
		return done, left, err
	}
	for _, id := range ids {
		msg, found, err := l.next(ctx, stream, id)
		switch {
		case err != nil:
			return done, left, err
		case !found || msg.Sequence != id:
			left = append(left, LetterNote{id, "there is no such message; it was dropped, or published again"})
		default:
			if err := one(msg); err != nil {
				return done, left, err
			}
		}
	}
	return done, left, nil
}

// all calls do with the letters that are there now, and not with those that come
// meanwhile: a letter that is refused again would be replayed for ever.
func (l *Letters) all(ctx context.Context, stream jetstream.Stream, do func(*jetstream.RawStreamMsg) error) error {
	last := stream.CachedInfo().State.LastSeq
	for at := uint64(1); at <= last; {
		msg, found, err := l.next(ctx, stream, at)
		if err != nil {
			return err
		}
		if !found || msg.Sequence > last {
			return nil
		}
		if err := do(msg); err != nil {
			return err
		}
		at = msg.Sequence + 1
	}
	return nil
}

// replay publishes one letter again. why is the reason if that is not possible.
func (l *Letters) replay(ctx context.Context, msg *jetstream.RawStreamMsg) (why string, err error) {
	letter := l.letter(msg)
	if letter.Cut {
		return "only the first " + strconv.Itoa(maxLetter>>10) + " KiB were kept", nil
	}
	if !strings.HasPrefix(letter.Subject, subjectEvents) {
		return "it was not published to " + subjectEvents + "*", nil
	}
	ctx, cancel := context.WithTimeout(ctx, letterTimeout)
	defer cancel()
	_, err = l.queues.JetStream.PublishMsg(ctx, &nats.Msg{
		Subject: l.queues.Prefix + letter.Subject, Data: msg.Data,
		Header: nats.Header{headerID: {msg.Header.Get(headerID)}},
	}, jetstream.WithExpectStream(l.queues.Intake))
	if err != nil {
		return "", awayFor(fmt.Errorf("publish the refused message %d again: %w", letter.ID, err))
	}
	return "", nil
}
