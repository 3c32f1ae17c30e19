package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
)

// FactKind says what a fact on the log is.
type FactKind uint8

// The kinds of fact.
const (
	FactUnknown FactKind = iota
	FactEvents           // a block of events
	FactCommand          // a command to the projector, Name says which
	FactSetting          // a setting, Name says which
	FactSignIn           // of a sign-in, Name says which; see [AppendSignIn]
	FactGap              // none: what stood up to Sequence is gone; made by whoever reads, see [GapError]
)

// Fact is one message of the log.
type Fact struct {
	Sequence uint64
	Kind     FactKind
	Name     string // of a command, setting or sign-in, "" for events
	Data     []byte // owned by the receiver
	// By is who asked for a command or setting, the zero Actor for events.
	By errata.Actor
	// Appended is when the log took it, by the log's clock. It is for
	// measuring lag; nothing that is folded may depend on it.
	Appended time.Time
	// Pending is how many facts stood behind this one when it was delivered.
	Pending uint64
}

// Errors of a Reader that its user must tell apart.
var (
	// ErrLogShorter: the log ends before the place to read from. It was
	// restored from a backup or lost its tail, and sequences would be reused.
	ErrLogShorter = errors.New("the log is shorter than the place to read from")
	// ErrLogPurged: the log begins after the place to read from.
	ErrLogPurged = errors.New("the log was purged beyond the place to read from")
	// ErrGap: facts of the log are gone; see [GapError].
	ErrGap = errors.New("the log has a gap")
	// errSkipped: facts were not delivered that are on the log.
	errSkipped = errors.New("facts of the log were passed over")
)

// pullBytes bounds what one pull may bring. A pull of many large blocks over
// the server's 64 MB limit cuts the connection again and again.
const pullBytes = 8 << 20

// Reader reads the facts of the log in order, from a given sequence on. It
// keeps no state on the server. One goroutine may use it at a time.
type Reader struct {
	log      Log
	messages jetstream.MessagesContext
	next     uint64
	filtered bool  // sequences are skipped, and that is no gap
	held     *Fact // behind a gap that was told
	// until is the last fact that anybody asks for, 0 for no end; idle says that
	// the server has nothing behind the last one it delivered, or was not asked.
	until uint64
	idle  bool
}

// NewReader opens the log for reading from sequence from (1 is the first).
// Where the log begins later than that, the reader begins with a gap; whoever
// knows that the log was purged asks [Inspect] first. Errors: ErrLogShorter.
func NewReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from)
}

// NewReaderUntil is NewReader for somebody who reads no further than until,
// which the log has reached. A gap at the end of the log is told, too, where
// NewReader would wait for the fact behind it.
func NewReaderUntil(ctx context.Context, log Log, from, until uint64) (*Reader, error) {
	r, err := newReader(ctx, log, from)
	if err == nil {
		r.until, r.idle = until, true
	}
	return r, err
}

// NewChangesReader is NewReader for the commands and settings alone: it passes
// over the blocks of events, and so cannot tell a gap.
func NewChangesReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from, log.Prefix+subjectCommands+">", log.Prefix+subjectSettings+">")
}

// newReader reads the facts under the subjects, all facts when there are none.
func newReader(ctx context.Context, log Log, from uint64, subjects ...string) (*Reader, error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return nil, fmt.Errorf("open the log %s: %w", log.Stream, err)
	}
	state := s.CachedInfo().State
	if from > state.LastSeq+1 {
		return nil, fmt.Errorf("read from %d, the log ends at %d: %w", from, state.LastSeq, ErrLogShorter)
	}
	if from < state.FirstSeq && len(subjects) > 0 {
		return nil, fmt.Errorf("read from %d, the log begins at %d: %w", from, state.FirstSeq, ErrLogPurged)
	}
	consumer, err := log.JetStream.OrderedConsumer(ctx, log.Stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:   from, FilterSubjects: subjects,
	})
	if err != nil {
		return nil, fmt.Errorf("consume the log from %d: %w", from, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxBytes(pullBytes))
	if err != nil {
		return nil, fmt.Errorf("pull the log from %d: %w", from, err)
	}
	return &Reader{log: log, messages: messages, next: from, filtered: len(subjects) > 0}, nil
}

// Next waits for the next fact. Where facts are gone it returns a [*GapError],
// and goes on behind them at the next call. After Close it returns
// jetstream.ErrMsgIteratorClosed.
func (r *Reader) Next(ctx context.Context) (Fact, error) {
	if f := r.held; f != nil {
		r.held = nil
		return r.passed(f)
	}
	if r.idle && r.next <= r.until {
		if err := r.lookBehind(ctx); err != nil {
			return Fact{}, err
		}
	}
	for {
		f, whole, err := r.receive(ctx)
		switch {
		case err != nil:
			return Fact{}, err
		case f.Sequence < r.next:
			return Fact{}, fmt.Errorf("expected fact %d, got %d: %w", r.next, f.Sequence, errSkipped)
		case !whole && r.filtered:
			continue // whoever reads all facts tells of it
		case !whole:
			f.Kind = FactGap
		}
		if f.Sequence == r.next || r.filtered {
			return r.passed(&f)
		}
		gap := &GapError{From: r.next, To: f.Sequence - 1, Why: GapMissing}
		if err := r.confirm(ctx, gap); err != nil {
			return Fact{}, err
		}
		r.held, r.next = &f, f.Sequence
		return Fact{}, gap
	}
}

// passed takes the step over a fact.
func (r *Reader) passed(f *Fact) (Fact, error) {
	r.next, r.idle = f.Sequence+1, f.Pending == 0
	if f.Kind == FactGap {
		return Fact{}, &GapError{From: f.Sequence, To: f.Sequence, Why: GapUnreadable}
	}
	return *f, nil
}

// receive waits for what the server delivers next; whole says that its checksum
// is right.
func (r *Reader) receive(ctx context.Context) (f Fact, whole bool, err error) {
	msg, err := r.messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return Fact{}, false, fmt.Errorf("next fact after %d: %w", r.next-1, err)
	}
	meta, err := msg.Metadata()
	if err != nil {
		return Fact{}, false, fmt.Errorf("metadata of a fact: %w", err)
	}
	subject := strings.TrimPrefix(msg.Subject(), r.log.Prefix)
	kind, name := parseSubject(subject)
	return Fact{
		Sequence: meta.Sequence.Stream, Kind: kind, Name: name, Data: msg.Data(), By: actorIn(msg.Headers()),
		Appended: meta.Timestamp, Pending: meta.NumPending,
	}, sound(subject, msg.Headers(), msg.Data()), nil
}

// confirm asks the server once more for the facts of a gap, another way: a
// message that was lost between the server and here is no gap of the log.
func (r *Reader) confirm(ctx context.Context, gap *GapError) error {
	there, found, err := nextMessage(ctx, r.log, gap.From)
	switch {
	case err != nil:
		return err
	case found && there.sequence <= gap.To:
		return fmt.Errorf("fact %d is on the log and came after none from %d: %w", there.sequence, gap.From, errSkipped)
	}
	return nil
}

// lookBehind tells a gap from here to the last fact that is asked for, or to
// the next one there is: the server would wait for what is appended next.
func (r *Reader) lookBehind(ctx context.Context) error {
	there, found, err := nextMessage(ctx, r.log, r.next)
	if err != nil {
		return err
	}
	r.idle = false
	if found && there.sequence <= r.until {
		return nil // it is delivered next, or tells the gap before it
	}
	gap := &GapError{From: r.next, To: r.until, Why: GapMissing}
	r.next = r.until + 1
	return gap
}

// Close ends reading. It may be called twice and while Next waits.
func (r *Reader) Close() { r.messages.Stop() }

func parseSubject(subject string) (FactKind, string) {
	switch {
	case strings.HasPrefix(subject, subjectEvents):
		return FactEvents, ""
	case strings.HasPrefix(subject, subjectCommands):
		return FactCommand, subject[len(subjectCommands):]
	case strings.HasPrefix(subject, subjectSettings):
		return FactSetting, subject[len(subjectSettings):]
	case strings.HasPrefix(subject, subjectSignIns):
		return FactSignIn, subject[len(subjectSignIns):]
	default:
		return FactUnknown, ""
	}
}

// State says how far the log reaches.
type State struct {
	First, Last uint64 // sequences; Last is First-1 when the log is empty
	// Facts is how many the log says it has, less than from First to Last when
	// some are gone. Not all that cannot be read are missing in it.
	Facts    uint64
	Bytes    uint64
	MaxBytes int64 // limit, -1 when there is none
	Created  time.Time
}

// Inspect reads the log's state.
func Inspect(ctx context.Context, log Log) (State, error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return State{}, fmt.Errorf("inspect the log %s: %w", log.Stream, err)
	}
	info := s.CachedInfo()
	return State{
		First: info.State.FirstSeq, Last: info.State.LastSeq, Facts: info.State.Msgs,
		Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, Created: info.Created,
	}, nil
}
