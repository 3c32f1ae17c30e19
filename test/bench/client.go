package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// request is a prebuilt HTTP request with places for 16 hex digits, a number that
// is different each time.
type request struct {
	bytes  []byte
	places []int // offsets of the numbers
	events int   // events in one request
}

// placeholder marks the places of a request's numbers.
const placeholder = "0123456789abcdef"

func newRequest(method, path string, header [][2]string, body string, events int) request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", method, path, len(body))
	for _, h := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	r := request{bytes: b.Bytes(), events: events}
	for at := 0; ; {
		i := bytes.Index(r.bytes[at:], []byte(placeholder))
		if i < 0 {
			return r
		}
		r.places = append(r.places, at+i)
		at += i + len(placeholder)
	}
}

// result is the outcome of one run of load.
type result struct {
	requests int64
	events   int64
	elapsed  time.Duration
	latency  *hdrhistogram.Histogram // microseconds
}

func (r result) perSecond() float64 { return float64(r.events) / r.elapsed.Seconds() }

// load sends the request over conns connections, one in flight on each, for the
// given time. The generator runs on the same cores as the service, so it does as
// little as possible: its own time would hide the differences.
func load(addr string, req request, conns int, span time.Duration) (result, error) {
	var (
		stop    atomic.Bool
		done    sync.WaitGroup
		mu      sync.Mutex
		total   = result{latency: newHistogram()}
		failure error
	)
	begin := time.Now()
	timer := time.AfterFunc(span, func() { stop.Store(true) })
	defer timer.Stop()
	for range conns {
		done.Go(func() {
			latency, n, err := loadOne(addr, req, &stop)
			mu.Lock()
			defer mu.Unlock()
			total.requests += n
			total.latency.Merge(latency)
			failure = errors.Join(failure, err)
		})
	}
	done.Wait()
	total.elapsed = time.Since(begin)
	total.events = total.requests * int64(req.events)
	return total, failure
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 60_000_000, 3) }

// number makes every event of a run unique.
var number atomic.Uint64

func loadOne(addr string, req request, stop *atomic.Bool) (*hdrhistogram.Histogram, int64, error) {
	latency := newHistogram()
	c, err := dial(context.Background(), addr, req)
	if err != nil {
		return latency, 0, err
	}
	defer c.Close()
	for n := int64(0); ; n++ {
		if stop.Load() {
			return latency, n, nil
		}
		c.fill()
		sent := time.Now()
		if err := c.succeed(); err != nil {
			return latency, n, err
		}
		if err := latency.RecordValue(max(1, time.Since(sent).Microseconds())); err != nil {
			return latency, n, err
		}
	}
}

// connection sends one request again and again, one in flight at a time.
type connection struct {
	net.Conn
	in     *bufio.Reader
	out    []byte
	places []int
}

func dial(ctx context.Context, addr string, req request) (*connection, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReaderSize(conn, 16<<10), bytes.Clone(req.bytes), req.places}, nil
}

// fill writes fresh numbers into the request.
func (c *connection) fill() {
	const hex = "0123456789abcdef"
	for _, at := range c.places {
		n := number.Add(1) * 0x9e3779b97f4a7c15
		for i := range 16 {
			c.out[at+i] = hex[n>>(60-4*i)&15]
		}
	}
}

// send sends the request and reads the head of the answer, like [readHead].
func (c *connection) send() (status string, length int, err error) {
	if _, err := c.Write(c.out); err != nil {
		return "", 0, fmt.Errorf("send: %w", err)
	}
	return readHead(c.in)
}

// readHead reads the head of an answer: its first line, and the length of its
// body.
func readHead(in *bufio.Reader) (status string, length int, err error) {
	head := textproto.NewReader(in)
	if status, err = head.ReadLine(); err != nil {
		return "", 0, fmt.Errorf("read the status: %w", err)
	}
	for {
		line, err := head.ReadLineBytes()
		if err != nil {
			return "", 0, fmt.Errorf("read the header: %w", err)
		}
		if len(line) == 0 {
			return status, length, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return "", 0, fmt.Errorf("read the length: %w", err)
			}
		}
	}
}

// succeed sends the request and reads its answer, which must be a 2xx.
func (c *connection) succeed() error {
	status, length, err := c.send()
	if err != nil {
		return err
	}
	if len(status) < 10 || status[9] != '2' {
		body, _ := io.ReadAll(io.LimitReader(c.in, int64(min(length, 500)))) // for the message only
		return fmt.Errorf("answered %q: %s", status, body)
	}
	_, err = c.in.Discard(length)
	return err
}

// paced sends the request over one connection, one every interval, until ctx
// ends. A request that is late is sent at once, as real senders do. answered
// gets the time at which each answered request was due, the first at begin: a
// service that stands still also delays requests that could not be sent meanwhile.
func paced(ctx context.Context, addr string, req request, begin time.Time, interval time.Duration, answered func(due time.Time)) error {
	c, err := dial(ctx, addr, req)
	if err != nil {
		return err
	}
	defer c.Close()
	return onTime(ctx, begin, interval, func() error {
		c.fill()
		return c.succeed()
	}, answered)
}

// onTime calls send once every interval, as [paced] sends its request.
func onTime(ctx context.Context, begin time.Time, interval time.Duration, send func() error, answered func(due time.Time)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := begin; ; due = due.Add(interval) {
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil
			}
		} else if ctx.Err() != nil {
			return nil
		}
		if err := send(); err != nil {
			return err
		}
		answered(due)
	}
}
