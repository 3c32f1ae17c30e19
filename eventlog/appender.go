package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/failpoint"
)

// AppenderConfig says where an Appender writes.
type AppenderConfig struct {
	Log Log
	// Spool takes blocks while the log does not, nil for none. A [Drain] moves them on.
	Spool *Log
	// Queue says that Log is a queue whose events get their places in a log later: they have
	// no sequence there yet.
	Queue  bool
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

const (
	// appendTimeout is how long a caller waits for the log before Append returns
	// log_unavailable. A healthy disk answers in milliseconds, a busy one had a p99
	// of 26 ms; SDKs give up after 5 to 30 s.
	appendTimeout = 5 * time.Second
	// publishTimeout is how long one try may take. After it, the same block is
	// sent again under the same message id.
	publishTimeout = 2 * time.Second
	// maxPending bounds the bytes of encoded events in the queue, and so the
	// memory. When the queue is full, Append returns log_unavailable at once.
	maxPending = 64 << 20
)

// A block costs 150 to 230 µs of the processors, whatever is in it: the fsync and the way
// through the server. With many senders it pays to wait for some of them.
const (
	// crowd is from how many requests at once the lane waits. Fewer senders would all be
	// waiting for the lane then: 16 of them lost a quarter of their speed.
	crowd = 36
	// together is for how many requests it waits, patience how long. Together is two thirds
	// of the crowd, so that the others have something to do meanwhile.
	together = 24
	patience = 400 * time.Microsecond
	// crowdFades is the part of a crowd that is still believed one block later, when fewer
	// requests were there.
	crowdFades = 0.98
)

// Appender appends events to the log with group commit: while one block is being
// written to the disk, the events that arrive are queued, and they become the next
// block. Only where many send at once the lane waits for more of them. One goroutine, the lane, publishes the blocks. A second
// lane gains nothing: the stream writes one block at a time, and smaller blocks
// cost more fsyncs (measured with single events: 1 lane 131,000 a second, 2 lanes
// 95,000, 3 lanes 73,000; more lanes gain nothing in requests of 500 events
// either). An Appender is safe for concurrent use.
type Appender struct {
	cfg     AppenderConfig
	id      string // part of every message id
	metrics appenderMetrics

	mu      sync.Mutex
	ready   *sync.Cond
	queue   []*group
	pending int // encoded bytes in queue
	closed  bool
	wanted  int     // how many groups the lane waits for, before it is woken
	last    int     // groups in the last block
	crowd   float64 // how many requests there are at once

	away    time.Time // when the log did not take a block last, zero while it does; of the lane
	refused bool      // the spool did not take the last block either; of the lane

	stop context.CancelFunc // ends the tries to publish the current block
	done sync.WaitGroup
}

// group holds the events of one Append call that go into the same block.
type group struct {
	ImportBlock
	stored chan stored // capacity 1: the lane never waits for the caller
}

// stored is what became of a block.
type stored struct {
	sequence uint64 // on the log, 0 when it is in the spool, or when nobody knows
	err      error
}

// NewAppender starts the lane. Close stops it. An error says that a field of
// cfg.Log is missing.
func NewAppender(cfg AppenderConfig) (*Appender, error) {
	if err := cfg.Log.validate(); err != nil {
		return nil, fmt.Errorf("appender: %w", err)
	}
	if cfg.Spool != nil {
		if err := cfg.Spool.validate(); err != nil {
			return nil, fmt.Errorf("spool of the appender: %w", err)
		}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	a := &Appender{cfg: cfg, id: nuid.Next(), stop: stop, metrics: newAppenderMetrics(cfg.Registerer)}
	a.ready = sync.NewCond(&a.mu)
	// The lane ends when Close was called and the queue is empty.
	a.done.Go(func() { a.run(ctx) })
	return a, nil
}

// Append encodes the events and returns when all of them are on disk. After an
// error, some events may be on the log and some not: the caller tells its client
// to send all of them again, and the fold counts each event id once. [errata.WrittenOf](ctx)
// notes where on the log they are, unless they are in a queue or in the spool. Kinds:
// invalid_event for an event that is too large, log_full when the log has reached
// its limit, log_unavailable otherwise.
func (a *Appender) Append(ctx context.Context, events []errata.Event) error {
	failpoint.Reach(failpoint.Accepted)
	groups, err := encodeGroups(events)
	if err != nil {
		return err
	}
	if err := a.enqueue(groups); err != nil {
		return err
	}
	late := time.NewTimer(appendTimeout) // a context of its own would take three times as long
	defer late.Stop()
	for _, g := range groups {
		select {
		case block := <-g.stored:
			if block.err != nil {
				return block.err
			}
			if !a.cfg.Queue {
				errata.WrittenOf(ctx).Note(block.sequence)
			}
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case <-late.C:
			return unavailable(context.DeadlineExceeded)
		}
	}
	a.metrics.events.Add(float64(len(events)))
	failpoint.Reach(failpoint.Stored)
	return nil
}

// encodeGroups encodes events into as few groups as the block limits allow.
func encodeGroups(events []errata.Event) ([]*group, error) {
	var groups []*group
	var g *group
	for i := range events {
		e := &events[i]
		if g == nil || g.Full() {
			g = &group{stored: make(chan stored, 1)}
			g.grow(events[i:])
			groups = append(groups, g)
		}
		if err := g.Add(e); err != nil {
			return nil, errata.Errorf(errata.KindInvalidEvent, "event %d is larger than the log takes", i).Because(err)
		}
	}
	return groups, nil
}

func (a *Appender) enqueue(groups []*group) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return unavailable(errors.New("appender is closed"))
	}
	if a.pending > maxPending {
		return unavailable(errors.New("too many events wait for the log"))
	}
	for _, g := range groups {
		a.queue = append(a.queue, g)
		a.pending += len(g.raw)
	}
	if len(a.queue) >= a.wanted {
		a.ready.Signal()
	}
	return nil
}

// run is the lane. It takes groups from the queue, makes one block of them,
// publishes it, and sends the outcome to the callers.
func (a *Appender) run(ctx context.Context) {
	var all ImportBlock
	at := run{appender: a.id}
	for {
		groups := a.take()
		if groups == nil {
			return
		}
		all.received = groups[0].received
		for _, g := range groups {
			all.ids = append(all.ids, g.ids...)
			all.raw = append(all.raw, g.raw...)
		}
		events := uint64(all.Len())
		block := all.Seal()
		sequence, err := a.publishOrSpool(ctx, block, at)
		if err == nil {
			a.metrics.blocks.Inc()
			a.metrics.bytes.Add(float64(len(block)))
		}
		if sequence != 0 {
			at.block, at.before = at.block+1, at.before+events
		} else {
			// Nobody knows whether this block is on the log. So the numbers of the
			// blocks begin again, under a new appender id.
			at = run{appender: nuid.Next()}
		}
		for _, g := range groups {
			g.stored <- stored{sequence, err}
		}
	}
}

// take waits for groups in the queue and returns as many as fit into one block. It
// returns nil when the appender is closed and the queue is empty.
func (a *Appender) take() []*group {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) == 0 {
		if a.closed {
			return nil
		}
		a.wanted = 1
		a.ready.Wait()
	}
	if a.crowd = max(a.crowd*crowdFades, float64(a.last+len(a.queue))); a.crowd >= crowd {
		a.gather()
	}
	n, size, events := 0, 0, 0
	for n < len(a.queue) {
		g := a.queue[n]
		if n > 0 && (size+len(g.raw) > MaxBlockRaw || events+g.Len() > errata.MaxBlockEvents) {
			break
		}
		n, size, events = n+1, size+len(g.raw), events+g.Len()
	}
	a.last = n
	taken := make([]*group, n)
	copy(taken, a.queue)
	rest := copy(a.queue, a.queue[n:])
	clear(a.queue[rest:])
	a.queue = a.queue[:rest]
	a.pending -= size
	return taken
}

// gather waits a moment for more groups in the queue.
func (a *Appender) gather() {
	late := false
	timer := time.AfterFunc(patience, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		late = true
		a.ready.Signal()
	})
	defer timer.Stop()
	a.wanted = together
	for len(a.queue) < together && !late && !a.closed {
		a.ready.Wait()
	}
}

// publish sends the block until its outcome is known. For two minutes the stream
// recognises a repeat by the message id; after that, the fold recognises the event
// ids.
func (a *Appender) publish(ctx context.Context, block []byte, at run) (sequence uint64, err error) {
	told := false
	return untilKnown(ctx, func(err error) error { return unavailable(fmt.Errorf("append a block: %w", err)) }, func() (uint64, error) {
		sequence, err := publishMsg(ctx, a.cfg.Log, &nats.Msg{
			Subject: a.cfg.Log.Prefix + subjectEvents + lane, Data: block, Header: at.header(),
		}, at.messageID())
		switch {
		case err == nil:
		case asFull(err) != nil:
			a.metrics.failures.WithLabelValues("full").Inc()
		default:
			a.metrics.failures.WithLabelValues("retry").Inc()
			if !told {
				told = true
				a.cfg.Logger.Warn("log did not take a block, trying again", "error", err)
			}
		}
		return sequence, err
	})
}

// Close refuses new events, writes the queued ones, and stops the lane. When ctx
// ends first, Close gives up the current block: its callers get an error.
func (a *Appender) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	a.ready.Broadcast()
	a.mu.Unlock()
	defer a.stop()
	finished := make(chan struct{})
	go func() { // ends with the lane, and stop ends the lane
		a.done.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return nil
	case <-ctx.Done():
		a.stop()
		<-finished
		return fmt.Errorf("close the log's lane: %w", ctx.Err())
	}
}
