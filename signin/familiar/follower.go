package familiar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

const (
	// saveEvery is how often the position is stored. After a crash the outcomes
	// since then are applied again.
	saveEvery = 5 * time.Second
	// restPause is the pause before following is tried again.
	restPause = time.Second
	// saveTimeout bounds storing the position at the end.
	saveTimeout = 2 * time.Second
)

// Log is where outcomes are read from.
type Log interface {
	// Span names the log and the sequences that it has; last is first-1 when it
	// is empty.
	Span(ctx context.Context) (log string, first, last uint64, err error)
	// Read reads the outcomes from a sequence on, which is at most last+1.
	Read(ctx context.Context, from uint64) (Reader, error)
}

// Reader reads one outcome after the other; an *[eventlog.Reader] is one.
type Reader interface {
	// Next waits for the next outcome.
	Next(ctx context.Context) (eventlog.Fact, error)
	Close()
}

// OnLog are the outcomes on the log.
type OnLog eventlog.Log

// Span tells logs apart by when they were made.
func (l OnLog) Span(ctx context.Context) (log string, first, last uint64, err error) {
	state, err := eventlog.Inspect(ctx, eventlog.Log(l))
	return strconv.FormatInt(state.Created.UnixNano(), 10), state.First, state.Last, err
}

// Read reads the outcomes alone.
func (l OnLog) Read(ctx context.Context, from uint64) (Reader, error) {
	return eventlog.NewOutcomesReader(ctx, eventlog.Log(l), from)
}

// Follower applies the outcomes on the log. Each node has one; several do not
// disturb each other.
type Follower struct {
	memory  *Memory
	log     Log
	logger  *slog.Logger
	skipped func(sequence uint64, why error)

	work background.Runner

	mu      sync.Mutex
	applied Position
}

var errNoAccount = errors.New("it names no account")

// NewFollower makes one that has not begun. skipped is called for outcomes on
// the log that cannot be read, perhaps more than once; nil for no calls.
func NewFollower(m *Memory, log Log, logger *slog.Logger, skipped func(sequence uint64, why error)) (*Follower, error) {
	if m == nil || log == nil {
		return nil, errors.New("familiar: a follower needs a Memory and a Log")
	}
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	if skipped == nil {
		skipped = func(uint64, error) {}
	}
	return &Follower{memory: m, log: log, logger: logger, skipped: skipped}, nil
}

// Start begins to follow, until Stop. After an error it tries again.
func (f *Follower) Start() {
	f.work.Start(background.Loop{
		Do: f.follow, Pauses: background.Pauses{First: restPause, Most: restPause},
		Failed: background.Tell(f.logger.Warn, "outcomes of sign-ins cannot be followed; it is tried again"),
	}.Run, background.Loop{
		Do: f.store, Every: saveEvery,
		Failed: background.Tell(f.logger.Info, "the position in the outcomes of sign-ins was not stored; it is tried again"),
	}.Run)
}

// Stop ends following and stores how far it came. What it could not store is
// applied again after the next start. The error is that of ctx.
func (f *Follower) Stop(ctx context.Context) error {
	if err := f.work.Stop(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	if err := f.store(ctx); err != nil {
		f.logger.Info("the position in the outcomes of sign-ins was not stored; the next start applies the last ones again", "error", err)
	}
	return nil
}

// follow applies outcomes until ctx ends or something fails; it always returns
// an error.
func (f *Follower) follow(ctx context.Context) error {
	id, from, err := f.begin(ctx)
	if err != nil {
		return err
	}
	reader, err := f.log.Read(ctx, from)
	if err != nil {
		return fmt.Errorf("read outcomes from %d: %w", from, err)
	}
	defer reader.Close()
	for {
		fact, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		var o Outcome
		if err := json.Unmarshal(fact.Data, &o); err != nil || !isKey(o.Account) {
			// It stays on the log, and every reading leaves it out.
			f.skipped(fact.Sequence, fmt.Errorf("no outcome of a sign-in: %w", errors.Join(err, errNoAccount)))
		} else if err := f.memory.Apply(ctx, fact.Sequence, o); err != nil {
			return fmt.Errorf("apply outcome %d: %w", fact.Sequence, err)
		}
		f.mu.Lock()
		f.applied = Position{id, fact.Sequence}
		f.mu.Unlock()
	}
}

// begin says where to read from: behind the stored position, or from the first
// outcome when that position is of another log or not on this one.
func (f *Follower) begin(ctx context.Context) (log string, from uint64, err error) {
	log, first, last, err := f.log.Span(ctx)
	if err != nil {
		return "", 0, err
	}
	stored, revision, err := f.memory.position(ctx)
	if err != nil {
		return "", 0, err
	}
	from = stored.Sequence + 1
	if stored.Log == log && from >= first && from <= last+1 {
		return log, from, nil
	}
	from = max(first, 1)
	// A position ahead of the log would hide the outcomes that are yet to come.
	return log, from, f.memory.putPosition(ctx, Position{log, from - 1}, revision)
}

// store saves the position, if there is one.
func (f *Follower) store(ctx context.Context) error {
	f.mu.Lock()
	at := f.applied
	f.mu.Unlock()
	if at == (Position{}) {
		return nil
	}
	return f.memory.savePosition(ctx, at)
}
