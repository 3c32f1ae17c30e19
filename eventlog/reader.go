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
	// ErrGap: the log skipped a sequence, which a log that denies deletes never does.
	ErrGap = errors.New("the log has a gap")
)

// pullBytes bounds what one pull may bring. A pull of many large blocks over
// the server's 64 MB limit cuts the connection again and again.
const pullBytes = 8 << 20

// Reader reads the facts of the log in order, from a given sequence on. It
// keeps no state on the server. One goroutine may use it at a time.
type Reader struct {
	prefix   string
	messages jetstream.MessagesContext
	next     uint64
	filtered bool // sequences are skipped, and that is no gap
}

// NewReader opens the log for reading from sequence from (1 is the first).
// Errors: ErrLogShorter, ErrLogPurged.
func NewReader(ctx context.Context, log Log, from uint64) (*Reader, error) {
	return newReader(ctx, log, from)
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
	if from < state.FirstSeq {
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
	return &Reader{prefix: log.Prefix, messages: messages, next: from, filtered: len(subjects) > 0}, nil
}

// Next waits for the next fact. After Close it returns
// jetstream.ErrMsgIteratorClosed.
func (r *Reader) Next(ctx context.Context) (Fact, error) {
	msg, err := r.messages.Next(jetstream.NextContext(ctx))
	if err != nil {
		return Fact{}, fmt.Errorf("next fact after %d: %w", r.next-1, err)
	}
	meta, err := msg.Metadata()
	if err != nil {
		return Fact{}, fmt.Errorf("metadata of a fact: %w", err)
	}
	seq := meta.Sequence.Stream
	if seq < r.next || seq > r.next && !r.filtered {
		return Fact{}, fmt.Errorf("expected fact %d, got %d: %w", r.next, seq, ErrGap)
	}
	r.next = seq + 1
	kind, name := parseSubject(strings.TrimPrefix(msg.Subject(), r.prefix))
	return Fact{
		Sequence: seq, Kind: kind, Name: name, Data: msg.Data(), By: actorIn(msg.Headers()),
		Appended: meta.Timestamp, Pending: meta.NumPending,
	}, nil
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
	Bytes       uint64
	MaxBytes    int64 // limit, -1 when there is none
	Created     time.Time
}

// Inspect reads the log's state.
func Inspect(ctx context.Context, log Log) (State, error) {
	s, err := log.JetStream.Stream(ctx, log.Stream)
	if err != nil {
		return State{}, fmt.Errorf("inspect the log %s: %w", log.Stream, err)
	}
	info := s.CachedInfo()
	return State{
		First: info.State.FirstSeq, Last: info.State.LastSeq,
		Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, Created: info.Created,
	}, nil
}
