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

// pauses are those between tries, for as long as ClickHouse is away: what waits
// is on the stream, and when that is full the senders are told.
var pauses = background.Pauses{First: 50 * time.Millisecond, Most: 5 * time.Second}

// Writer takes the entries from the stream to ClickHouse, each exactly once,
// and from the stream when they are there.
//
// It keeps no position of its own: a table's last row says how far its log is
// written, which is true because one insert is one block. What was inserted and
// not yet purged when the process ended is purged at the next start; an insert
// whose outcome nobody learned is sent again and replaces itself.
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

// NewWriter finds out how far each log is written. It must be called before
// anything is put on the stream by this process; Start begins the work.
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

// Start begins to write; a second call does nothing.
func (w *Writer) Start() {
	var parts []func(context.Context)
	for _, l := range w.lanes {
		parts = append(parts, background.Loop{
			Do: l.session, Pauses: pauses, Reached: func() any { return l.next },
			Failed: background.Tell(l.logger.Warn, "reading the stream failed and is begun again"),
		}.Run)
	}
	w.work.Start(parts...)
}

// Stop ends the work and waits for it. What is not written stays on the stream.
// The error is that of ctx.
func (w *Writer) Stop(ctx context.Context) error { return w.work.Stop(ctx) }

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
