package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Command is what an administrator did to records.
type Command struct {
	Sequence uint64
	// Removes are the records that it deleted, Touches those that it changed in
	// another way.
	Removes, Touches []errata.RecordKey
	// Unnamed counts the records that it deleted or changed without naming them.
	Unnamed uint64
	// Within are the projects that such a command is about; none for all.
	Within []uint64
}

// Config is where the feed learns of changes. All but Logger is required. The
// functions end with their context.
type Config struct {
	// Checkpoint is the last fact that is visible in the records.
	Checkpoint func(ctx context.Context) (uint64, error)
	// Commands returns the commands after one fact up to another, in order. It
	// may stop before the end; at is the fact that it reached. See [Commands].
	Commands func(ctx context.Context, after, upto uint64) (list []Command, at uint64, err error)
	// Changed finds the newest changes, at most limit, and counts them all.
	Changed func(ctx context.Context, c query.Changes, limit int) (list []errata.Record, total uint64, err error)
	// Live finds records as they are now; records that do not exist are missing.
	Live func(ctx context.Context, keys []errata.RecordKey) (map[errata.RecordKey]errata.Record, error)
	// ProjectsOf finds the projects of signatures, also of records that are deleted;
	// signatures that nobody knows are missing.
	ProjectsOf func(ctx context.Context, keys []errata.RecordKey) (map[errata.Signature]uint64, error)
	// CountUsers fills in the users of the records.
	CountUsers func(ctx context.Context, records []errata.Record) error
	// Follow calls on whenever the checkpoint may have moved, until stop.
	// Calls may get lost.
	Follow func(on func()) (stop func() error, err error)
	Logger *slog.Logger
}

// Feed tells listeners what changes. It is safe for concurrent use.
type Feed struct {
	cfg Config

	mu        sync.Mutex
	closed    bool
	at        uint64 // the fact up to which listeners were told, while there is a poller
	listeners map[*listener]struct{}
	stop      context.CancelFunc // of the poller, nil while there is none
	pollers   sync.WaitGroup
}

// New makes a feed. Nothing runs until somebody listens.
func New(cfg Config) (*Feed, error) {
	if cfg.Checkpoint == nil || cfg.Commands == nil || cfg.Changed == nil || cfg.Live == nil || cfg.ProjectsOf == nil || cfg.CountUsers == nil || cfg.Follow == nil {
		return nil, errors.New("feed: every function is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Feed{cfg: cfg, listeners: map[*listener]struct{}{}}, nil
}

// errStopping is the error of Listen after Close.
var errStopping = errata.Errorf(errata.KindStoreUnavailable, "The service is stopping; try again shortly.")

// Listen begins to listen. The listener is told every change of the projects after
// its Position. Errors: store_unavailable.
func (f *Feed) Listen(ctx context.Context, among query.Projects) (Listener, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil && !f.closed {
		f.mu.Unlock() // the store may be slow, and other listeners must not wait
		at, err := f.cfg.Checkpoint(ctx)
		f.mu.Lock()
		if err != nil {
			return nil, errata.Errorf(errata.KindStoreUnavailable, "The records do not answer; try again shortly.").
				Because(fmt.Errorf("begin to listen: %w", err))
		}
		if f.stop == nil && !f.closed {
			f.start(at)
		}
	}
	if f.closed {
		return nil, errStopping
	}
	l := &listener{feed: f, among: among, position: f.at, pending: newPending(), ready: make(chan struct{}, 1), done: make(chan struct{})}
	f.listeners[l] = struct{}{}
	return l, nil
}

// start begins to poll. The caller holds the lock.
func (f *Feed) start(at uint64) {
	ctx, stop := context.WithCancel(context.Background())
	f.at, f.stop = at, stop
	f.pollers.Go(func() { newPoller(f, at).run(ctx) }) // ends with ctx: the last listener's Close, or the feed's
}

// groups are what the listeners listen to, each once.
func (f *Feed) groups() (all []*group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		if groupFor(all, l.among) == nil {
			all = append(all, &group{l.among, newPending()})
		}
	}
	return all
}

// tell gives every listener the changes up to a fact, unless the poller was
// stopped meanwhile.
func (f *Feed) tell(ctx context.Context, batches []*group, upto uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	f.at = upto
	for l := range f.listeners {
		switch batch := groupFor(batches, l.among); {
		case batch == nil: // it came while they were read
			l.add(&pending{more: 1})
		case !batch.empty():
			l.add(batch.pending)
		}
	}
}

// Close ends all listening and returns when nothing runs any more.
func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	for l := range f.listeners {
		close(l.done)
		delete(f.listeners, l)
	}
	f.stopIfUnused()
	f.mu.Unlock()
	f.pollers.Wait()
}

// stopIfUnused stops the poller when nobody listens. The caller holds the lock.
func (f *Feed) stopIfUnused() {
	if len(f.listeners) == 0 && f.stop != nil {
		f.stop()
		f.stop = nil
	}
}

// Listener is told what changes until it is closed. Its methods may be called
// from different goroutines.
type Listener interface {
	// Position is the last fact of the log whose changes this listener is not
	// told.
	Position() uint64
	// Ready is signalled when Take has something, Done closed when the feed ends.
	Ready() <-chan struct{}
	Done() <-chan struct{}
	// Take returns what changed since the last Take.
	Take() Changes
	// Close ends listening. It may be called more than once.
	Close()
}

type listener struct {
	feed     *Feed
	among    query.Projects
	position uint64
	ready    chan struct{}
	done     chan struct{}

	mu      sync.Mutex
	pending *pending
}

func (l *listener) Position() uint64 { return l.position }

func (l *listener) Ready() <-chan struct{} { return l.ready }

func (l *listener) Done() <-chan struct{} { return l.done }

func (l *listener) Take() Changes {
	l.mu.Lock()
	taken := l.pending
	l.pending = newPending()
	l.mu.Unlock()
	return taken.changes()
}

func (l *listener) add(batch *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.add(batch)
	select {
	case l.ready <- struct{}{}:
	default: // it knows already
	}
}

func (l *listener) Close() {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	if _, listens := l.feed.listeners[l]; listens {
		delete(l.feed.listeners, l)
		l.feed.stopIfUnused()
	}
}
