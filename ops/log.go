package ops

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

const (
	// ProbeTimeout bounds one question to an engine, so that a probe answers
	// before common health checks give up after 5 s.
	ProbeTimeout = 1500 * time.Millisecond
	// troubleFades is how long one refusal counts when no other append follows.
	// Otherwise a service that gets no events because it is not ready would
	// never be ready again.
	troubleFades = 30 * time.Second
)

// Appender puts events on the log; *eventlog.Appender is one.
type Appender interface {
	Append(ctx context.Context, events []errata.Event) error
}

// Log passes events on to an appender and knows the state of the log: how full
// it is, whether it takes events, and how many. Asking the log is not enough
// for that: when its disk has failed, it answers every question and takes
// nothing. It is safe for concurrent use, and a prometheus.Collector of the
// log's size and speed.
type Log struct {
	appender     Appender
	state        func(context.Context) (eventlog.State, error)
	now          func() time.Time
	arrivals     arrivals
	bytes, limit *prometheus.Desc
	seconds      prometheus.Histogram

	mu       sync.Mutex
	failedAt time.Time // of the latest failed append, zero after one that succeeded
	why      error
	// silentSince is when the log first gave no answer, zero after one.
	silentSince time.Time
}

// NewLog watches the log that the appender appends to and state asks.
func NewLog(appender Appender, state func(context.Context) (eventlog.State, error), now func() time.Time) *Log {
	return &Log{
		appender: appender, state: state, now: now,
		bytes: prometheus.NewDesc("errata_log_bytes", "Bytes that the log has on disk.", nil, nil),
		limit: prometheus.NewDesc("errata_log_max_bytes", "Bytes that the log may have; then events are refused.", nil, nil),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "errata_log_append_seconds", Help: "Time until the events of one request are on the log, or refused by it.",
			// From an append that one fsync answers to the patience of a request.
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30},
		}),
	}
}

// Append appends and notes the outcome. Errors: those of the appender.
func (l *Log) Append(ctx context.Context, events []errata.Event) error {
	begin := l.now()
	err := l.appender.Append(ctx, events)
	l.seconds.Observe(l.now().Sub(begin).Seconds())
	switch kind := errata.KindOf(err); {
	case err == nil:
		l.note(nil)
		l.arrivals.add(l.now(), len(events))
	case kind != errata.KindLogUnavailable && kind != errata.KindLogFull:
	case ctx.Err() == nil: // a sender that went away says nothing about the log
		l.note(err)
	}
	return err
}

func (l *Log) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failedAt, l.why = time.Time{}, err
	if err != nil {
		l.failedAt = l.now()
	}
	switch {
	case errata.KindOf(err) != errata.KindLogUnavailable: // it was taken, or refused
		l.silentSince = time.Time{}
	case l.silentSince.IsZero():
		l.silentSince = l.failedAt
	}
}

// Silent returns when the log first gave no answer to an append, when the
// latest append failed, and why; a nil why when it has answered since.
func (l *Log) Silent() (first, last time.Time, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silentSince.IsZero() {
		return first, last, nil
	}
	return l.silentSince, l.failedAt, l.why
}

// trouble is why the log refused the latest events; nil while it takes them, or
// when the refusal was long ago.
func (l *Log) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failedAt.IsZero() || l.now().Sub(l.failedAt) > troubleFades {
		return nil
	}
	return l.why
}

// Ready is nil when the log answers within [ProbeTimeout], has room, and took the
// latest events. Kinds: log_unavailable, log_full.
func (l *Log) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	state, err := l.state(ctx)
	if err != nil {
		return errata.Errorf(errata.KindLogUnavailable, "The log does not answer. Events are refused until it does.").Because(err)
	}
	return l.takes(state)
}

func (l *Log) takes(state eventlog.State) error {
	if state.MaxBytes > 0 && state.Bytes >= uint64(state.MaxBytes) {
		return errata.Errorf(errata.KindLogFull, "The log has reached its limit. Events are refused.")
	}
	if err := l.trouble(); err != nil {
		return errata.Errorf(errata.KindOf(err), "The log did not take the latest events.").Because(err)
	}
	return nil
}

// Check says how full the log is, and whether it takes events.
func (l *Log) Check(ctx context.Context) errata.Check {
	c := errata.Check{Name: "log"}
	state, err := l.state(ctx)
	if err != nil {
		c.Detail, c.Hint = err.Error(), "see the checks of nats"
		return c
	}
	c.Detail = fmt.Sprintf("facts %d to %d, %d of %d bytes", state.First, state.Last, state.Bytes, state.MaxBytes)
	if err := l.takes(state); err != nil {
		c.Detail += "; " + err.Error()
		c.Hint = "events are refused: raise log-max-bytes, or make room on the disk; an embedded log that the disk has stopped comes back by itself"
		return c
	}
	c.OK = true
	if state.MaxBytes > 0 && state.Bytes > uint64(state.MaxBytes)/10*9 {
		c.Hint = "the log is nearly full, and then events are refused: raise log-max-bytes"
	}
	return c
}

// Describe names the metrics.
func (l *Log) Describe(out chan<- *prometheus.Desc) {
	out <- l.bytes
	out <- l.limit
	l.seconds.Describe(out)
}

// Collect asks the log. It has no size while it does not answer: a wrong number
// would be worse.
func (l *Log) Collect(out chan<- prometheus.Metric) {
	l.seconds.Collect(out)
	ctx, cancel := context.WithTimeout(context.Background(), ProbeTimeout)
	defer cancel()
	state, err := l.state(ctx)
	if err != nil {
		return
	}
	out <- prometheus.MustNewConstMetric(l.bytes, prometheus.GaugeValue, float64(state.Bytes))
	if state.MaxBytes > 0 {
		out <- prometheus.MustNewConstMetric(l.limit, prometheus.GaugeValue, float64(state.MaxBytes))
	}
}
