package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Options are what a client needs: a DSN, or a URL and a key, or a Transport.
type Options struct {
	// DSN is http://KEY@host:port/PROJECT as "errata keys create" prints it.
	DSN string
	// URL is the address of the service and Key the text of an ingest key.
	URL, Key string
	// Transport replaces HTTP; see client/natstransport.
	Transport Transport
	// HTTP sends the requests; nil means a transport of the client's own.
	HTTP http.RoundTripper

	// Release, Environment and ServerName are added to every event.
	Release, Environment, ServerName string
	// InApp are the import paths of the application's own code, with all packages
	// below them; none means the main module.
	InApp []string

	// Queue is how many events may wait; 0 means DefaultQueue.
	Queue int
	// MaxBackoff is the longest wait between two tries, unless the service asks
	// for more; 0 means DefaultMaxBackoff.
	MaxBackoff time.Duration
	// BeforeSend gets every event, in the goroutine that captured it, and returns
	// it, changed or not; nil drops it. If it panics, the event is dropped,
	// because it may hold what BeforeSend removes.
	BeforeSend func(*Event) *Event
	// OnError gets the errors of sending, from one goroutine. It must not wait for
	// the client.
	OnError func(error)
}

// Client captures errors and sends them. It is safe for concurrent use, and a
// nil *Client does nothing.
type Client struct {
	program    program
	base       map[string]any
	beforeSend func(*Event) *Event

	queue  *queue
	counts counts
	worker *worker

	stop  context.CancelFunc
	ended chan struct{}

	closing    sync.Once
	closeError error
}

// New makes a client and starts its goroutine, which ends with Close. It does not
// connect, so an unreachable service is no error. The error says which option is
// wrong.
func New(o Options) (*Client, error) {
	transport := o.Transport
	if transport == nil {
		var to target
		var err error
		switch {
		case o.DSN != "":
			to, err = parseDSN(o.DSN)
		case o.URL != "":
			to, err = parseURL(o.URL, o.Key)
		default:
			err = errors.New("set DSN, or URL and Key")
		}
		if err != nil {
			return nil, fmt.Errorf("make an Errata client: %w", err)
		}
		transport = newHTTP(to, o.HTTP)
	}
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = DefaultMaxBackoff
	}
	c := &Client{
		program: newProgram(o.InApp), base: map[string]any{}, beforeSend: o.BeforeSend,
		queue: newQueue(o.Queue), ended: make(chan struct{}),
	}
	c.counts.Dropped = map[string]uint64{}
	for name, value := range map[string]string{"release": o.Release, "environment": o.Environment, "server_name": o.ServerName} {
		if value != "" {
			c.base[name] = value
		}
	}
	c.worker = &worker{
		queue: c.queue, counts: &c.counts, transport: transport, maxBackoff: o.MaxBackoff, onError: o.OnError,
		encode: c.encode, hurry: make(chan struct{}, 1), last: make(chan struct{}),
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() { // ends with Close, at the latest when the context of Close ends
		defer close(c.ended)
		c.worker.run(ctx)
	}()
	return c, nil
}

// Capture sends an error and returns the event's id, "" when nothing is sent.
// It does not wait for the service. The class is the type of the deepest cause
// whose type says more than errors.New. The place comes from the stack of the
// error, or from the call of Capture.
func (c *Client) Capture(ctx context.Context, err error, opts ...EventOption) (id string) {
	if c == nil || err == nil {
		return ""
	}
	return c.capture(ctx, here, func(e *Event) []uintptr { return e.describe(err) }, opts)
}

// CaptureMessage sends a text with level info and returns the event's id.
func (c *Client) CaptureMessage(ctx context.Context, message string, opts ...EventOption) (id string) {
	if c == nil || message == "" {
		return ""
	}
	return c.capture(ctx, here, func(e *Event) []uintptr {
		e.Message, e.Level = message, LevelInfo
		return nil
	}, opts)
}

// describe fills the fields that the error decides and returns its stack.
func (e *Event) describe(err error) (stack []uintptr) {
	u := unwrap(err)
	e.Err, e.Message, e.Class, e.Chain = err, textOf(err), u.class, u.chain
	return u.stack
}

// capture makes an event and puts it into the queue. fill fills it and returns a
// stack; without one, the stack is the present one, of which near cuts off the
// calls of this package. When something panics here, such as a method of the
// application's values, only the event is lost.
func (c *Client) capture(ctx context.Context, near func([]call) []call, fill func(*Event) []uintptr, opts []EventOption) (id string) {
	defer func() {
		if recover() != nil {
			c.counts.drop(DroppedBroken, 1)
			id = ""
		}
	}()
	if reason := c.queue.refuses(); reason != "" {
		c.counts.drop(reason, 1) // before any work
		return ""
	}
	event := &Event{ID: newID(), Time: time.Now().UTC(), Level: LevelError}
	stack := calls(fill(event))
	if len(stack) == 0 {
		stack = near(calls(callers()))
	}
	event.Frames = c.program.frames(stack)
	event.File, event.Line = place(event.Frames)
	for _, option := range append(contextOptions(ctx), opts...) {
		option(event)
	}
	id = event.ID
	if c.beforeSend != nil {
		if event = c.beforeSend(event); event == nil {
			c.counts.add(&c.counts.LeftOut, 1)
			return ""
		}
		event.ID = id
	}
	message, err := c.encode(event)
	if err != nil {
		c.counts.drop(DroppedBroken, 1)
		return ""
	}
	if reason := c.queue.add(message); reason != "" {
		c.counts.drop(reason, 1)
		return ""
	}
	return id
}

func (c *Client) encode(e *Event) (Message, error) {
	body, err := e.encode(c.base)
	return Message{ID: e.ID, Book: e.Type, Body: body}, err
}

// Stats are the client's counts.
func (c *Client) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	stats := c.counts.copy()
	stats.Waiting = c.queue.size()
	return stats
}

// Flush returns when all events that were captured before are sent, or dropped
// and counted. The error says how many events still wait when ctx ends.
func (c *Client) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	until, _, _ := c.queue.progress()
	for {
		_, finished, moved := c.queue.progress()
		if finished >= until {
			return nil
		}
		select {
		case c.worker.hurry <- struct{}{}:
		default: // there is a token already
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("flush: %d events are not sent: %w", until-finished, context.Cause(ctx))
		}
	}
}

// Close sends the events that wait, until ctx ends, and drops the rest. Then it
// ends the goroutine and closes the transport. The error says how many events it
// dropped. Later calls return the same.
func (c *Client) Close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.closing.Do(func() { c.closeError = c.shut(ctx) })
	return c.closeError
}

func (c *Client) shut(ctx context.Context) error {
	defer c.stop()
	c.queue.close()
	before := c.Stats().Dropped[DroppedClosed]
	close(c.worker.last)
	select {
	case <-c.ended:
	case <-ctx.Done():
		c.stop()
		<-c.ended
	}
	err := c.worker.transport.Close(ctx)
	if n := c.Stats().Dropped[DroppedClosed] - before; n > 0 && ctx.Err() != nil {
		return errors.Join(fmt.Errorf("close: %d events were dropped: %w", n, context.Cause(ctx)), err)
	}
	return err
}
