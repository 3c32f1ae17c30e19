package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// answerLimit is how long after the end of a run an answer is waited for.
	answerLimit = time.Minute
	// redialPause is between two tries to connect to a server that refuses connections.
	redialPause = 50 * time.Millisecond
)

// Result is the outcome of one run of load.
type Result struct {
	Requests int64 // that were taken
	Events   int64 // in them
	Elapsed  time.Duration
	Latency  *hdrhistogram.Histogram // microseconds, of those taken
	// Refused are the requests that were answered with something else than 2xx, by
	// the status.
	Refused map[string]int64
	// Unanswered are the requests that may have been taken, but have no answer.
	Unanswered int64
	// Failure says what happened to the first request that was not taken; nil for none.
	Failure error
}

// PerSecond is how many events were taken in a second.
func (r Result) PerSecond() float64 { return float64(r.Events) / r.Elapsed.Seconds() }

// NewHistogram holds times in microseconds.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 3) }

const longest = 60_000_000

func newResult() Result { return Result{Latency: NewHistogram(), Refused: map[string]int64{}} }

// Run sends the request over conns connections, one in flight on each, for the given
// time. The generator runs on the same cores as the service, so it does as little as
// possible: its own time would hide the differences. A request that is not taken is
// counted, and a connection that ends is opened again; the error is that of a server
// that cannot be reached, or that of ctx.
func Run(ctx context.Context, addr string, req Request, conns int, span time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, span+answerLimit)
	defer cancel()
	var (
		stop    atomic.Bool
		done    sync.WaitGroup
		mu      sync.Mutex
		total   = newResult()
		failure error
	)
	begin := time.Now()
	timer := time.AfterFunc(span, func() { stop.Store(true) })
	defer timer.Stop()
	for range conns {
		done.Go(func() {
			s := sender{addr: addr, request: req, stop: &stop, Result: newResult()}
			err := s.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			total.add(s.Result)
			failure = errors.Join(failure, err)
		})
	}
	done.Wait()
	total.Elapsed = time.Since(begin)
	total.Events = total.Requests * int64(req.Events)
	if err := ctx.Err(); err != nil {
		failure = errors.Join(failure, fmt.Errorf("wait for the answers: %w", err))
	}
	return total, failure
}

// Strict is [Run] at a server that must take every request.
func Strict(addr string, req Request, conns int, span time.Duration) (Result, error) {
	result, err := Run(context.Background(), addr, req, conns, span)
	return result, errors.Join(err, result.Failure)
}

func (r *Result) add(other Result) {
	r.Requests += other.Requests
	r.Unanswered += other.Unanswered
	r.Latency.Merge(other.Latency)
	for status, n := range other.Refused {
		r.Refused[status] += n
	}
	if r.Failure == nil {
		r.Failure = other.Failure
	}
}

// sender is one connection of a run.
type sender struct {
	Result
	addr    string
	request Request
	stop    *atomic.Bool
	// unwatch lets the context go, which would close the connection.
	unwatch func() bool
}

func (s *sender) run(ctx context.Context) error {
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { s.close(c) }()
	for !s.stop.Load() {
		c.Fill()
		sent := time.Now()
		answer, err := c.Send()
		switch {
		case err != nil:
			s.Unanswered++
			s.failed(err)
		case answer.Accepted():
			s.Requests++
			if err := s.Latency.RecordValue(min(longest, max(1, time.Since(sent).Microseconds()))); err != nil {
				return err
			}
		default:
			s.Refused[answer.Status]++
			s.failed(answer.Err())
		}
		if err != nil || answer.Close {
			s.close(c)
			if c = s.redial(ctx); c == nil {
				return nil
			}
		}
	}
	return nil
}

func (s *sender) failed(err error) {
	if s.Failure == nil {
		s.Failure = err
	}
}

// dial connects; the connection ends with ctx.
func (s *sender) dial(ctx context.Context) (*Connection, error) {
	c, err := Dial(ctx, s.addr, s.request)
	if err == nil {
		s.unwatch = context.AfterFunc(ctx, func() { _ = c.Close() })
	}
	return c, err
}

func (s *sender) close(c *Connection) {
	if c != nil {
		s.unwatch()
		_ = c.Close() // nothing is written any more
	}
}

// redial connects again. It returns nil when the run ends before that.
func (s *sender) redial(ctx context.Context) *Connection {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for !s.stop.Load() {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil
		}
		c, err := s.dial(ctx)
		if err == nil {
			return c
		}
		s.failed(err)
		pause.Reset(redialPause)
	}
	return nil
}
