// Package ordered reads a stream of JetStream in order, from one message on, and goes on when
// the server that it reads from is gone. It must not know what the messages mean.
//
// The client library has such a reader too. It asks for a consumer of one name again and
// again: when the cluster has given that to a node that has just died, it reads nothing until
// the node is back. Here each try asks for another consumer, which some other node gets.
package ordered

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/errata-log/errata/internal/background"
)

const (
	// createTimeout is how long the cluster may take to give a consumer to a node, and that
	// to make it. On busy machines it takes 20 ms; a node that has died never does.
	createTimeout = 2 * time.Second
	// forgotten is when the server removes a consumer that nobody reads.
	forgotten = 30 * time.Second
	// pullBytes bounds the bytes of one pull. The server closes the connection when more than
	// 64 MB wait in it.
	pullBytes = 8 << 20
	// pullMessages bounds the messages of one pull. The client makes a channel with so many
	// places for each reader; without this bound it takes 8 MB. After missed heartbeats the
	// client pulls once more while messages still wait in the channel, and drops those for
	// which there is no place. 1,024 places were too few.
	pullMessages = 1 << 16
)

// openTries is how often Open asks for a consumer when nobody answers, and from how many consumers
// NextUpTo reads that lack a message. Each try goes to another node, and of three at most one is
// not there.
const openTries = 3

// pauses are the pauses between tries to get a consumer.
var pauses = background.Pauses{First: 10 * time.Millisecond, Most: time.Second}

// Config says what is read.
type Config struct {
	JetStream jetstream.JetStream
	Stream    string
	// From is the first sequence to read; where the stream begins later, that.
	From uint64
	// Subjects are those that are read, none for all.
	Subjects []string
}

// Reader reads a stream. One goroutine may call Next at a time.
type Reader struct {
	cfg       Config
	next      uint64 // the first sequence that was not delivered
	delivered uint64 // by the present consumer
	still     still
	consumer  string                    // "" when it was given up
	messages  jetstream.MessagesContext // nil while there is no consumer

	unwatch func() // no longer looks at the connection

	stopped chan struct{}
	mu      sync.Mutex // guards the closing of stopped, consumer and messages
}

// Open opens a stream for reading. When the server refuses, Open returns its error at once; when
// nobody answers, after some tries.
func Open(ctx context.Context, cfg Config) (*Reader, error) {
	r := &Reader{cfg: cfg, next: max(cfg.From, 1), stopped: make(chan struct{})}
	r.unwatch = OnReconnect(cfg.JetStream.Conn(), r.lose)
	r.still.timer = time.AfterFunc(stillMost, r.look)
	r.still.timer.Stop()
	tries := 0
	err := r.open(ctx, func(err error) bool {
		tries++
		silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, ErrReconnected)
		return !silent || tries == openTries
	})
	if err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

// Next waits for the next message. It returns the error of ctx when that ends, and
// jetstream.ErrMsgIteratorClosed after Stop. While there is no consumer it asks for one again
// and again.
func (r *Reader) Next(ctx context.Context) (jetstream.Msg, *jetstream.MsgMetadata, error) {
	for {
		if r.messages == nil {
			if err := r.open(ctx, never); err != nil {
				return nil, nil, err
			}
		}
		r.still.turns.Add(1)
		msg, err := r.messages.Next(jetstream.NextContext(ctx))
		r.still.turns.Add(1)
		switch {
		case err == nil:
			meta, err := msg.Metadata()
			if err != nil {
				return nil, nil, fmt.Errorf("metadata of a message: %w", err)
			}
			if meta.Sequence.Consumer == r.delivered+1 {
				r.delivered, r.next = r.delivered+1, meta.Sequence.Stream+1
				r.still.got(meta.NumPending)
				return msg, meta, nil
			}
			// One was lost between the server and here.
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case r.isStopped(), errors.Is(err, nats.ErrConnectionClosed):
			return nil, nil, jetstream.ErrMsgIteratorClosed
		}
		r.drop()
	}
}

// never is for a reader that asks for a consumer until it has one.
func never(error) bool { return false }

// open gets a consumer from the next message on, unless ends says that the reason why there
// is none stays.
func (r *Reader) open(ctx context.Context, ends func(error) bool) error {
	for tries := pauses.Begin(); ; {
		err := r.create(ctx)
		if err == nil {
			return nil
		}
		if r.isStopped() || errors.Is(err, nats.ErrConnectionClosed) {
			return jetstream.ErrMsgIteratorClosed
		}
		if ends(err) || !tries.Wait(ctx) {
			return fmt.Errorf("consume the stream %s from %d: %w", r.cfg.Stream, r.next, err)
		}
	}
}

// create makes a consumer of a new name, and pulls from it.
func (r *Reader) create(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-r.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	nc := r.cfg.JetStream.Conn()
	connections := nc.Stats().Reconnects
	name := nuid.Next()
	consumer, err := r.cfg.JetStream.CreateConsumer(ctx, r.cfg.Stream, jetstream.ConsumerConfig{
		Name: name, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next, FilterSubjects: r.cfg.Subjects,
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: forgotten, Replicas: 1, MemoryStorage: true,
	})
	if err != nil {
		r.forget(name)
		return err
	}
	expiry, heartbeat := Pull(r.cfg.JetStream)
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, pullBytes), expiry, heartbeat)
	if err != nil {
		r.forget(name)
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.consumer, r.messages, r.delivered = name, messages, 0
	r.still.expect(consumer.CachedInfo().NumPending)
	switch { // meanwhile
	case r.isStopped():
		r.giveUp()
		return jetstream.ErrMsgIteratorClosed
	case nc.Stats().Reconnects != connections:
		r.giveUp()
		return ErrReconnected
	}
	return nil
}

// lose gives up the consumer, which the server may have lost. A Next that waits gets another
// one.
func (r *Reader) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giveUp()
}

// look gives up a consumer that stands still. The Next that waits gets another one.
func (r *Reader) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isStopped() && r.still.stands() {
		r.giveUp()
	}
}

// drop gives up the consumer, for another one.
func (r *Reader) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giveUp()
	r.messages = nil
}

func (r *Reader) giveUp() {
	if r.consumer == "" {
		return
	}
	r.messages.Stop()
	r.forget(r.consumer)
	r.consumer = ""
}

// forget lets the server remove a consumer. It would do so by itself, later, so nobody waits
// for the answer that it wants to give.
func (r *Reader) forget(consumer string) {
	_ = r.cfg.JetStream.Conn().PublishRequest(APIPrefix(r.cfg.JetStream)+"CONSUMER.DELETE."+r.cfg.Stream+"."+consumer, nats.NewInbox(), nil)
}

// Stop ends reading. It may be called twice, and while Next waits.
func (r *Reader) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isStopped() {
		close(r.stopped)
	}
	r.unwatch()
	r.still.timer.Stop()
	r.giveUp()
}

func (r *Reader) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}
