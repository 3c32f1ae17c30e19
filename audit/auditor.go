package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

// Config says what is audited and where the trail stands.
type Config struct {
	Log eventlog.Log
	// KeysBucket is the name of the bucket of API keys.
	KeysBucket string
	// Stream is the name of the trail's stream. Its only subject is "audit"
	// behind the log's prefix.
	Stream string
	// Answers has the answers to commands.
	Answers eventlog.Answers
	// Now is the clock for entries about the trail itself, nil for the system's.
	Now    func() time.Time
	Logger *slog.Logger
	// Skipped is called for messages in the trail that are no entries, perhaps
	// more than once; nil for no calls.
	Skipped func(sequence uint64, why error)
}

func (c *Config) check() error {
	if c.Log.JetStream == nil || c.Log.NATS == nil || c.KeysBucket == "" || c.Stream == "" || c.Answers == nil {
		return errors.New("audit: Log, KeysBucket, Stream and Answers are required")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Skipped == nil {
		c.Skipped = func(uint64, error) {}
	}
	return nil
}

func (c *Config) trail() stream {
	return stream{js: c.Log.JetStream, name: c.Stream, subject: c.Log.Prefix + "audit"}
}

// pauses are those between sessions, for as long as NATS is away or the trail
// is full. Nothing is lost meanwhile: the facts wait in their sources.
var pauses = background.Pauses{First: 50 * time.Millisecond, Most: 5 * time.Second}

// catchUpTimeout is how long CaughtUp waits at most; an entry takes a few
// milliseconds once its command is answered.
const catchUpTimeout = 2 * time.Second

// Auditor writes the trail. Any number of them, on any number of nodes, may
// write the same one.
type Auditor struct {
	cfg    Config
	trail  stream
	keys   keySource
	folded *folded
	work   background.Runner

	mu sync.Mutex
	// handled is how far this auditor has come, moved is closed when it gets
	// further, err is why it does not get further, nil while it does.
	handled Cursors
	moved   chan struct{}
	err     error
}

// New makes an auditor. Start begins the work.
func New(cfg Config) (*Auditor, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Auditor{
		cfg: cfg, trail: cfg.trail(), keys: keySource{js: cfg.Log.JetStream, bucket: cfg.KeysBucket},
		folded: newFolded(), moved: make(chan struct{}),
	}, nil
}

// Start begins in the background; a second call does nothing.
func (a *Auditor) Start() {
	tell := background.Tell(a.cfg.Logger.Warn, "the auditor failed and starts again from the last entry")
	a.work.Start(background.Loop{
		Do: a.session, Pauses: pauses, Reached: func() any { return a.Cursor() },
		Failed: func(err error, row int) {
			a.failed(err)
			tell(err, row)
		},
	}.Run)
}

// Stop ends the work. What has no entry yet gets it after the next start, here
// or on another node. It may be called twice. The error is that of ctx.
func (a *Auditor) Stop(ctx context.Context) error { return a.work.Stop(ctx) }

// Cursor is how far the sources have entries, as far as this auditor knows.
func (a *Auditor) Cursor() Cursors {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handled
}

// Err is why the auditor does not get further, nil while it does.
func (a *Auditor) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// CaughtUp waits until every change that was on the sources when it was called
// has its entry, at most 2 s. An error means that some may not have it yet.
func (a *Auditor) CaughtUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	want, err := a.Targets(ctx)
	if err != nil {
		return err
	}
	for {
		a.mu.Lock()
		handled, moved := a.handled, a.moved
		a.mu.Unlock()
		if handled.Log >= want.Log && handled.Keys >= want.Keys {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("the audit trail is behind: log at %d of %d, keys at %d of %d: %w",
				handled.Log, want.Log, handled.Keys, want.Keys, errors.Join(ctx.Err(), a.Err()))
		}
	}
}

// Targets are the last changes of both sources, 0 for none.
func (a *Auditor) Targets(ctx context.Context) (c Cursors, err error) {
	if c.Log, err = eventlog.LastChange(ctx, a.cfg.Log); err != nil {
		return Cursors{}, err
	}
	c.Keys, err = a.keys.last(ctx)
	return c, err
}

// reached notes how far the auditor has come, and wakes those who wait for it.
func (a *Auditor) reached(c Cursors) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handled, a.err = c, nil
	close(a.moved)
	a.moved = make(chan struct{})
}

func (a *Auditor) failed(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}
