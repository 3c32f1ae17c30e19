package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/made"
	"github.com/errata-log/errata/internal/ordered"
)

// FactKind is the kind of a fact.
type FactKind uint8

// The kinds of fact.
const (
	FactUnknown FactKind = iota
	FactEvents           // a block of events
	FactCommand          // a command to the projector, Name says which
	FactSetting          // a setting, Name says which
	FactSignIn           // a step of a sign-in, Name says which; see [AppendSignIn]
	FactNote             // what the audit trail says and no other fact does, Name says what; see [AppendNote]
	FactTick             // the time, for what happens because nothing does; see [Tick]
	FactGap              // not on the log: a reader makes it of a [GapError], whose facts up to Sequence are gone
	FactNewer            // not on the log: a reader makes it of [ErrNewer]
)

// Fact is one message of the log.
type Fact struct {
	Sequence uint64
	Kind     FactKind
	Name     string // of a command, setting or sign-in, "" for events
	Data     []byte // the caller may keep and change it
	// By asked for the command or setting; it is the zero Actor for events.
	By errata.Actor
	// Appended is when the log took the fact, by the clock of the log. It is for
	// measuring lag; the fold must not depend on it.
	Appended time.Time
	// Pending is how many facts were after this one when it was delivered.
	Pending uint64
}

// Errors of a Reader that its caller must tell apart.
var (
	// ErrLogShorter: the log ends before the sequence to read from. It was restored
	// from a backup or has lost its end, and would use sequences twice.
	ErrLogShorter = errors.New("the log is shorter than the place to read from")
	// ErrLogPurged: the log begins after the sequence to read from.
	ErrLogPurged = errors.New("the log was purged beyond the place to read from")
	// ErrGap: facts of the log are gone; see [GapError].
	ErrGap = errors.New("the log has a gap")
	// errSkipped: facts are on the log, but were not delivered.
	errSkipped = errors.New("facts of the log were passed over")
)

// Reader reads the facts of the log in order, from a given sequence on. It
// keeps no state on the server. One goroutine may use it at a time.
type Reader struct {
	log      Log
	messages *ordered.Reader
	next     uint64
	filtered bool  // only some subjects are read, so a missing sequence is no gap
	held     *Fact // the fact after a gap, for the next call of Next
	// until is the last fact to read, 0 for no end. idle says that the server had
	// no more facts after the last one, or that none was read yet.
	until uint64
	idle  bool
}

// NewReader opens the log for reading from sequence from (1 is the first). When the
// log begins later than that, reading begins with a gap; a caller that expects a
// purged log asks [Inspect] first. Errors: ErrLogShorter.
func NewReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from)
}

// NewReaderUntil is NewReader for reading no further than until, a sequence that
// the log has reached, or 0 for no end. With until it reports a gap at the end of
// the log, where a Reader of NewReader waits for the next fact.
func NewReaderUntil(ctx context.Context, log Log, from, until uint64) (*Reader, error) {
	r, err := newReader(ctx, log, from)
	if err == nil {
		r.until, r.idle = until, true
	}
	return r, err
}

// NewChangesReader is NewReader for the commands, settings and notes only. It cannot
// report a gap, because it does not read the blocks of events. Errors: also
// ErrLogPurged.
func NewChangesReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from, log.Prefix+subjectCommands+">", log.Prefix+subjectSettings+">", log.Prefix+subjectNotes+">")
}

// newReader reads the facts of the subjects; without subjects it reads all facts.
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
	messages, err := ordered.Open(ctx, ordered.Config{JetStream: log.JetStream, Stream: log.Stream, From: from, Subjects: subjects})
	if err != nil {
		return nil, err
	}
	return &Reader{log: log, messages: messages, next: from, filtered: len(subjects) > 0}, nil
}

// Next waits for the next fact. When facts are gone it returns a [*GapError], and
// the next call continues after the gap. After Close it returns
// jetstream.ErrMsgIteratorClosed. The error is ErrNewer for a fact of a newer program: its
// caller reads no further.
func (r *Reader) Next(ctx context.Context) (Fact, error) {
	if f := r.held; f != nil {
		r.held = nil
		return r.passed(f)
	}
	if r.idle && r.next <= r.until {
		if err := r.gapAtEnd(ctx); err != nil {
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
			continue // a Reader of all facts reports it as a gap
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

// passed notes that a fact was read, and returns it, or the gap that it stands for.
func (r *Reader) passed(f *Fact) (Fact, error) {
	r.next, r.idle = f.Sequence+1, f.Pending == 0
	if f.Kind == FactGap {
		return Fact{}, &GapError{From: f.Sequence, To: f.Sequence, Why: GapUnreadable}
	}
	return *f, nil
}

// receive waits for the next fact from the server; whole says that its checksum is
// right.
func (r *Reader) receive(ctx context.Context) (f Fact, whole bool, err error) {
	msg, meta, err := r.messages.Next(ctx)
	if err != nil {
		return Fact{}, false, fmt.Errorf("next fact after %d: %w", r.next-1, err)
	}
	if err := newer(meta.Sequence.Stream, msg.Headers()); err != nil {
		return Fact{}, false, err
	}
	subject := strings.TrimPrefix(msg.Subject(), r.log.Prefix)
	kind, name := parseSubject(subject)
	return Fact{
		Sequence: meta.Sequence.Stream, Kind: kind, Name: name, Data: msg.Data(), By: actorIn(msg.Headers()),
		Appended: meta.Timestamp, Pending: meta.NumPending,
	}, sound(subject, msg.Headers(), msg.Data()), nil
}

// confirm asks the server for the facts of a gap in another way: a message that was
// lost between the server and the Reader is no gap of the log.
func (r *Reader) confirm(ctx context.Context, gap *GapError) error {
	there, found, err := nextMessage(ctx, r.log, gap.From)
	switch {
	case err != nil:
		return err
	case found && there.sequence <= gap.To:
		return fmt.Errorf("fact %d is on the log and was not delivered when reading from %d: %w", there.sequence, gap.From, errSkipped)
	}
	return nil
}

// gapAtEnd returns a gap when no fact is left up to until: the server would wait
// for a new fact.
func (r *Reader) gapAtEnd(ctx context.Context) error {
	there, found, err := nextMessage(ctx, r.log, r.next)
	if err != nil {
		return err
	}
	r.idle = false
	if found && there.sequence <= r.until {
		return nil // it is delivered next, and shows a gap before it
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
	case subject == subjectTicks:
		return FactTick, ""
	case strings.HasPrefix(subject, subjectNotes):
		return FactNote, noteName(subject[len(subjectNotes):])
	default:
		return FactUnknown, ""
	}
}

// State says how far the log reaches.
type State struct {
	First, Last uint64 // sequences; Last is First-1 when the log is empty
	// Facts is how many facts the log says that it has. It is less than from First
	// to Last when facts are missing, but it may count unreadable ones.
	Facts    uint64
	Bytes    uint64
	MaxBytes int64 // limit, -1 when there is none
	// Created is when the log was made, which tells it from another one of its name. A log
	// that has moved into a cluster keeps it.
	Created time.Time
}

// Inspect reads the state of the log.
func Inspect(ctx context.Context, log Log) (State, error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return State{}, fmt.Errorf("inspect the log %s: %w", log.Stream, err)
	}
	info := s.CachedInfo()
	return State{
		First: info.State.FirstSeq, Last: info.State.LastSeq, Facts: info.State.Msgs,
		Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, Created: made.At(info.Created, info.Config.Metadata),
	}, nil
}
