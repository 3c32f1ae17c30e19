package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/made"
)

// WriterConfig is what a Writer needs. Stream and ClickHouse are required.
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
	// Skipped is called for each message that cannot be read, perhaps more than
	// once; nil for nobody.
	Skipped func(sequence uint64, why error)
	// Keep says from which message of a log on others still need the stream; next is the
	// first that is not written here, and with urgent the stream is half full. nil: nobody
	// else reads the stream.
	Keep func(log Log, next uint64, urgent bool) uint64
}

// pauses are the pauses between tries while ClickHouse is away. The entries wait
// on the stream; when it is full, senders get an error.
var pauses = background.Pauses{First: 50 * time.Millisecond, Most: 5 * time.Second}

// Writer inserts the entries of the stream into ClickHouse, each exactly once, and
// then purges them.
//
// It stores no position: one insert is one block, so the last row of a table says
// how far its log is written. Messages that were inserted before the process ended
// are purged at the next start. An insert whose outcome is unknown is sent again
// and replaces itself.
type Writer struct {
	lanes [len(logs)]*lane
	work  background.Runner
}

// maxDays is ten years: what is kept longer is not a log.
const maxDays = 3650

// CheckDays says why entries cannot be kept for so many days.
func CheckDays(days int) error {
	if days < 1 || days > maxDays {
		return fmt.Errorf("%d is not from 1 to %d; the log itself is switched on and off while the service runs", days, maxDays)
	}
	return nil
}

// NewWriter finds out how far each log is written. It must be called before this
// process puts messages on the stream. Start begins the work.
func NewWriter(ctx context.Context, cfg WriterConfig) (*Writer, error) {
	if cfg.ClickHouse == nil {
		return nil, errors.New("exchange: ClickHouse is required")
	}
	if err := cmp.Or(cfg.Stream.validate(), CheckDays(cfg.ModuleDays), CheckDays(cfg.QueryDays)); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Keep == nil {
		cfg.Keep = func(_ Log, next uint64, _ bool) uint64 { return next }
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
			skipped: cfg.Skipped, keep: cfg.Keep,
		}
		if err := l.locate(ctx); err != nil {
			return nil, err
		}
		w.lanes[log] = l
	}
	// Last, because a second registration after a failed call would panic.
	metrics := newWriterMetrics(cfg.Registerer, func(log Log) float64 { return w.lanes[log].lag().Seconds() })
	for _, l := range w.lanes {
		l.metrics = metrics
	}
	return w, nil
}

// Start begins to write; a second call does nothing.
func (w *Writer) Start() {
	var parts []func(context.Context)
	for _, l := range w.lanes {
		parts = append(parts, background.Loop{
			Do: l.session, Pauses: pauses, Reached: func() any { return l.next },
			Failed: background.Tell(l.logger.Warn, "reading the stream failed; it begins again"),
		}.Run)
	}
	w.work.Start(parts...)
}

// Hold calls do while nothing is written, and then finds out again how far each log is written:
// do may replace the tables. It goes on when that is known, or not at all when ctx ends before.
func (w *Writer) Hold(ctx context.Context, do func() error) error {
	if err := w.Stop(ctx); err != nil {
		return err
	}
	failed := do()
	for tries := pauses.Begin(); ; {
		err := w.locate(ctx)
		if err == nil {
			w.Start()
			return failed
		}
		if !tries.Wait(ctx) {
			return errors.Join(failed, err)
		}
	}
}

func (w *Writer) locate(ctx context.Context) error {
	for _, l := range w.lanes {
		if err := l.locate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Next is the first message of the log on the stream that is not written.
func (w *Writer) Next(log Log) uint64 { return w.lanes[log].written.Load() }

// Stop ends the work and waits for it. Unwritten messages stay on the stream.
// The error is that of ctx.
func (w *Writer) Stop(ctx context.Context) error { return w.work.Stop(ctx) }

// message is one request on the stream.
type message struct {
	sequence uint64
	entries  []entry
}

// lane writes one log. One goroutine uses its fields, since excepted.
type lane struct {
	stream  Stream
	store   store
	now     func() time.Time
	logger  *slog.Logger
	metrics *writerMetrics
	skipped func(sequence uint64, why error)
	keep    func(log Log, next uint64, urgent bool) uint64

	// written is next, for others.
	written atomic.Uint64
	epoch   uint64 // of the stream, in the rows
	next    uint64 // sequence of the first message that is not written
	// since is the time of the oldest message of the open batch on the stream,
	// in Unix nanoseconds, 0 for none.
	since atomic.Int64
}

func (l *lane) lag() time.Duration {
	since := l.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, l.now().Sub(time.Unix(0, since)))
}

// locate finds the first message that is not written. A new stream begins a new
// epoch. So does a stream that ends before the written position: it was restored
// from a backup and will use sequences again.
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
	created := uint64(made.At(info.Created, info.Config.Metadata).UnixNano())
	switch {
	case last.epoch < created:
		l.epoch, l.next = created, 1
	case last.sequence > info.State.LastSeq:
		l.logger.Warn("the stream of the module and query logs ends before the written position, as after a restore; writing goes on at its end",
			"stream", info.State.LastSeq, "written", last.sequence)
		l.epoch, l.next = uint64(l.now().UnixNano()), info.State.LastSeq+1
	default:
		l.epoch, l.next = last.epoch, last.sequence+1
	}
	l.written.Store(l.next)
	return nil
}
