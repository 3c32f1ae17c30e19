package exchange

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
)

// WriterConfig says what is written where.
type WriterConfig struct {
	Stream     Stream
	ClickHouse driver.Conn
	// ModuleDays and QueryDays are how long entries are kept, at least 1.
	ModuleDays, QueryDays int
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Logger takes what the operator should see; nil discards it.
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
	// Skipped is told of messages that cannot be read, each perhaps more than
	// once; nil for nobody.
	Skipped func(sequence uint64, why error)
}

// retryPauses are the pauses between tries; the last one repeats for as long as
// ClickHouse is away: what waits is on the stream, and when that is full the
// senders are told.
var retryPauses = [...]time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second, 5 * time.Second}

// Writer takes the entries from the stream to ClickHouse, each exactly once,
// and from the stream when they are there.
//
// It keeps no position of its own: a table's last row says how far its log is
// written, which is true because one insert is one block. What was inserted and
// not yet purged when the process ended is purged at the next start; an insert
// whose outcome nobody learned is sent again and replaces itself.
type Writer struct {
	lanes   [len(logs)]*lane
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewWriter finds out how far each log is written. It must be called before
// anything is put on the stream by this process; Start begins the work.
func NewWriter(ctx context.Context, cfg WriterConfig) (*Writer, error) {
	switch {
	case cfg.ClickHouse == nil:
		return nil, errors.New("exchange: ClickHouse is required")
	case cfg.ModuleDays < 1 || cfg.QueryDays < 1:
		return nil, fmt.Errorf("exchange: entries are kept for %d and %d days, want at least 1", cfg.ModuleDays, cfg.QueryDays)
	}
	if err := cfg.Stream.validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Skipped == nil {
		cfg.Skipped = func(uint64, error) {}
	}
	w := &Writer{}
	for _, log := range logs {
		days := map[Log]int{Modules: cfg.ModuleDays, Queries: cfg.QueryDays}[log]
		l := &lane{
			stream: cfg.Stream, store: store{cfg.ClickHouse, log, time.Duration(days) * 24 * time.Hour},
			now: cfg.Now, logger: cfg.Logger.With("log", log.String()),
			skipped: cfg.Skipped,
		}
		if err := l.locate(ctx); err != nil {
			return nil, err
		}
		w.lanes[log] = l
	}
	// Last, so that a call that failed can be made again.
	metrics := newWriterMetrics(cfg.Registerer, func(log Log) float64 { return w.lanes[log].lag().Seconds() })
	for _, l := range w.lanes {
		l.metrics = metrics
	}
	return w, nil
}

// Start begins to write. It must be called once.
func (w *Writer) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	for _, l := range w.lanes {
		w.running.Go(func() { l.run(ctx) })
	}
}

// Stop ends the work and waits for it. What is not written stays on the stream.
// The error is that of ctx.
func (w *Writer) Stop(ctx context.Context) error {
	w.cancel()
	done := make(chan struct{})
	go func() { w.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the writer of the module and query logs: %w", ctx.Err())
	}
}

// message is one request on the stream.
type message struct {
	sequence uint64
	entries  []entry
}

// lane is the way of one log. Its fields but since are used by one goroutine.
type lane struct {
	stream  Stream
	store   store
	now     func() time.Time
	logger  *slog.Logger
	metrics *writerMetrics
	skipped func(sequence uint64, why error)

	epoch uint64 // what the rows call the stream
	next  uint64 // the first message that is not written
	// since is when the stream took the oldest message of the open batch, in
	// Unix nanoseconds, 0 for none.
	since atomic.Int64
}

func (l *lane) lag() time.Duration {
	since := l.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, l.now().Sub(time.Unix(0, since)))
}

// locate finds the first message that is not written. A stream that was made
// anew begins a new epoch, and so does one that is shorter than what is
// written: it was restored from a backup and will use sequences again.
func (l *lane) locate(ctx context.Context) error {
	last, err := l.store.last(ctx)
	if err != nil {
		return err
	}
	stream, err := l.stream.JetStream.Stream(ctx, l.stream.Name)
	if err != nil {
		return fmt.Errorf("open the stream %s: %w", l.stream.Name, err)
	}
	info := stream.CachedInfo()
	created := uint64(info.Created.UnixNano())
	switch {
	case last.epoch < created:
		l.epoch, l.next = created, 1
	case last.sequence > info.State.LastSeq:
		l.logger.Warn("the stream of module and query logs is shorter than what was written from it; going on at its end",
			"stream", info.State.LastSeq, "written", last.sequence)
		l.epoch, l.next = uint64(l.now().UnixNano()), info.State.LastSeq+1
	default:
		l.epoch, l.next = last.epoch, last.sequence+1
	}
	return nil
}

// run writes until ctx ends.
func (l *lane) run(ctx context.Context) {
	for tries := 0; ctx.Err() == nil; tries++ {
		before := l.next
		err := l.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if l.next > before {
			tries = 0
		}
		l.logger.Warn("reading the stream failed and is begun again", "at", l.next, "error", err)
		pause(ctx, tries)
	}
}

// pause waits before the next try, or until ctx ends.
func pause(ctx context.Context, tries int) {
	timer := time.NewTimer(retryPauses[min(tries, len(retryPauses)-1)])
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
