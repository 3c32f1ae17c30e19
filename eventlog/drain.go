package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/ordered"
)

const (
	// A batch has at most drainMessages messages and about drainBytes bytes.
	drainMessages = 500
	drainBytes    = 4 << 20
	// drainAckWait is when the queue delivers a message again that was not
	// acknowledged. A batch takes milliseconds; when the log is away for longer,
	// the session ends first.
	drainAckWait = time.Minute
	// drainIdle is how long the queue keeps the consumer of a reader that is gone.
	drainIdle = 10 * time.Second
	// goodbyeTimeout bounds the request that deletes the consumer at the end.
	goodbyeTimeout = time.Second
)

// errDrained says that another process reads the queue.
var errDrained = errors.New("somebody else reads the queue")

// codesDrained are JetStream's codes for a work queue that has its one reader.
var codesDrained = map[jetstream.ErrorCode]bool{10099: true, 10100: true}

// DrainConfig says which queue a Drain reads and which log it writes.
type DrainConfig struct {
	Log Log
	// JetStream is the server of the queue, which need not be that of the log.
	// Stream is the name of the queue, a work queue with one reader.
	JetStream jetstream.JetStream
	Stream    string
	// Name is the name of the queue in its marks on the log.
	Name string
	// Kept is the bucket with the marks that were purged from the log, see
	// [KeepSourceMarks]; nil for none.
	Kept jetstream.KeyValue
	// Reader is the name of the reader; a new reader with the same name takes over
	// the queue. With "", the Drain waits while another one reads.
	Reader string
	// Take handles messages that were not handled before, in the order of the
	// queue, and puts blocks on the log with [Drain.Append]. When it returns nil,
	// the Drain acknowledges all of them.
	Take func(ctx context.Context, d *Drain, messages []Queued) error
	// Took, if it is not nil, is called after each batch: with the number of new
	// messages, of repeated ones, and of those that still wait.
	Took func(fresh, repeated int, pending uint64)
	// Skipped, if it is not nil, is called for a fact under the queue's subject
	// that Errata has not written.
	Skipped func(sequence uint64, why error)
	// Logger gets what the operator should know, nil for nothing.
	Logger *slog.Logger
}

// Queued is one message of a queue.
type Queued struct {
	Subject  string
	Header   nats.Header
	Data     []byte
	Sequence uint64
	Stored   time.Time // when the queue took it
}

// Drain moves the messages of a queue to the log, each one once, however often it
// is delivered: a [SourceMark] on the log says which message was the last, and a
// message is acknowledged only after its mark is on the log. One goroutine runs it.
type Drain struct {
	cfg  DrainConfig
	mark SourceMark
	// seq is the sequence of the mark on the log, delivery the number of the latest
	// delivery.
	seq, delivery uint64
	// known is the last message that this process has handled. It is after the mark
	// when the last messages had no events.
	known SourceMark
	// ack acknowledges a message; tests replace it.
	ack func(jetstream.Msg) error
}

// NewDrain makes a Drain. Run begins the work.
func NewDrain(cfg DrainConfig) *Drain {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Took == nil {
		cfg.Took = func(int, int, uint64) {}
	}
	return &Drain{cfg: cfg, ack: jetstream.Msg.Ack}
}

// AckWith replaces the way of acknowledging, for tests that lose some. It must be
// called before Run.
func (d *Drain) AckWith(ack func(jetstream.Msg) error) { d.ack = ack }

// Epoch is the epoch of the queue; see [SourceMark].
func (d *Drain) Epoch() int64 { return d.mark.Epoch }

// drainPauses are the pauses after failed sessions. The messages wait in the queue
// meanwhile; a full queue refuses new ones.
var drainPauses = background.Pauses{First: 50 * time.Millisecond, Most: 2 * time.Second}

// Run works in sessions until ctx ends. Any error ends a session, and the next one
// begins at the first message that is not acknowledged.
func (d *Drain) Run(ctx context.Context) {
	tell := background.Tell(d.cfg.Logger.With("queue", d.cfg.Name).Warn, "a queue of events waits and is tried again")
	background.Loop{
		Do: d.session, Pauses: drainPauses, Reached: func() any { return d.known },
		Failed: func(err error, row int) {
			if !errors.Is(err, errDrained) && !errors.Is(err, ordered.ErrReconnected) {
				tell(err, row)
			}
		},
	}.Run(ctx)
}

// session reads the queue until ctx ends or an error, such as [ordered.ErrReconnected].
func (d *Drain) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer ordered.OnReconnect(d.cfg.JetStream.Conn(), func() { cancel(ordered.ErrReconnected) })()
	err := d.read(ctx)
	return cmp.Or(context.Cause(ctx), err)
}

// read reads the queue from its first message on, until ctx ends or an error. It
// has a consumer of its own: so messages come in order, and a lost message is seen
// as a missing number of a delivery.
func (d *Drain) read(ctx context.Context) error {
	stream, err := d.cfg.JetStream.Stream(ctx, d.cfg.Stream)
	if err != nil {
		return fmt.Errorf("open the queue %s: %w", d.cfg.Stream, err)
	}
	consumer, err := d.consumer(ctx, stream)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		defer cancel()
		_ = stream.DeleteConsumer(ctx, consumer.CachedInfo().Name) // after an error drainIdle ends it
	}()
	if err := d.locate(ctx, stream); err != nil {
		return err
	}
	expiry, heartbeat := ordered.Pull(d.cfg.JetStream)
	messages, err := consumer.Messages(jetstream.PullMaxMessages(drainMessages), expiry, heartbeat)
	if err != nil {
		return fmt.Errorf("pull the queue: %w", err)
	}
	defer messages.Stop()
	for {
		batch, pending, err := d.collect(ctx, messages)
		if err == nil {
			err = d.take(ctx, batch, pending)
		}
		if err != nil {
			return err
		}
	}
}

func (d *Drain) consumer(ctx context.Context, stream jetstream.Stream) (jetstream.Consumer, error) {
	if d.cfg.Reader != "" {
		if err := stream.DeleteConsumer(ctx, d.cfg.Reader); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, fmt.Errorf("take over the queue %s: %w", d.cfg.Stream, err)
		}
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Name: d.cfg.Reader, Description: "Errata takes events to its log",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: drainAckWait, MaxAckPending: 2 * drainMessages,
		InactiveThreshold: drainIdle, MemoryStorage: true, // with as many replicas as the queue, as a work queue wants it
	})
	if err == nil {
		return consumer, nil
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) && codesDrained[refused.ErrorCode] {
		return nil, errDrained
	}
	return nil, fmt.Errorf("read the queue %s: %w", d.cfg.Stream, err)
}

// locate finds the mark of the queue. The consumer must be there already: from then
// on nobody else can move the mark. A queue that ends before its mark is an old copy of its
// files. It uses sequences again, so the mark does not count. `errata restore` leaves no
// such queue, see [GoOnAfterMark].
func (d *Drain) locate(ctx context.Context, stream jetstream.Stream) (err error) {
	d.delivery = 0
	if d.mark, d.seq, err = lastSource(ctx, d.cfg.Log, d.cfg.Name, d.cfg.Skipped); err != nil {
		return err
	}
	if d.mark == (SourceMark{}) && d.cfg.Kept != nil {
		if d.mark, err = keptMark(ctx, d.cfg.Kept, d.cfg.Name, d.cfg.Logger); err != nil {
			return err
		}
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("inspect the queue: %w", err)
	}
	epoch := epochOf(info)
	if d.mark.Epoch != epoch || d.known.Epoch == epoch && d.known.Sequence > d.mark.Sequence {
		d.mark = d.known
	}
	if d.mark.Epoch != epoch || d.mark.Sequence > info.State.LastSeq {
		d.mark = SourceMark{Epoch: epoch}
	}
	d.known = d.mark
	return nil
}

// collect waits for a message and takes those that wait behind it too. pending is
// how many messages are left in the queue.
func (d *Drain) collect(ctx context.Context, messages jetstream.MessagesContext) (batch []delivered, pending uint64, err error) {
	for size := 0; len(batch) < drainMessages && size < drainBytes; {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return nil, 0, fmt.Errorf("next message: %w", err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return nil, 0, fmt.Errorf("metadata of a message: %w", err)
		}
		if meta.Sequence.Consumer != d.delivery+1 {
			return nil, 0, fmt.Errorf("delivery %d came after %d: messages were lost on the way", meta.Sequence.Consumer, d.delivery)
		}
		d.delivery++
		batch = append(batch, delivered{msg, Queued{
			Subject: msg.Subject(), Header: msg.Headers(), Data: msg.Data(), Sequence: meta.Sequence.Stream, Stored: meta.Timestamp,
		}})
		size += len(msg.Data())
		if pending = meta.NumPending; pending == 0 {
			break
		}
	}
	return batch, pending, nil
}

// delivered is a message and what acknowledges it.
type delivered struct {
	msg jetstream.Msg
	Queued
}

// take hands the new messages of a batch to cfg.Take, and acknowledges all of them.
func (d *Drain) take(ctx context.Context, batch []delivered, pending uint64) error {
	fresh := make([]Queued, 0, len(batch))
	for i := range batch {
		if batch[i].Sequence > d.mark.Sequence {
			fresh = append(fresh, batch[i].Queued)
		}
	}
	if len(fresh) > 0 {
		if err := d.cfg.Take(ctx, d, fresh); err != nil {
			return err
		}
		// From now on these messages are repeats. The mark on the log says so only
		// for messages with events; reading the others twice does no harm.
		d.mark.Sequence = max(d.mark.Sequence, fresh[len(fresh)-1].Sequence)
		d.known = d.mark
	}
	for i := range batch {
		if err := d.ack(batch[i].msg); err != nil {
			return fmt.Errorf("acknowledge message %d: %w", batch[i].Sequence, err)
		}
	}
	d.cfg.Took(len(fresh), len(batch)-len(fresh), pending)
	return nil
}

// Append puts a sealed block on the log. It holds the events of the messages up to
// and with last. Kinds: already_running when another process has continued the
// queue, log_full, log_unavailable.
func (d *Drain) Append(ctx context.Context, block []byte, last uint64) error {
	ctx, cancel := context.WithTimeout(ctx, sourcePatience)
	defer cancel()
	mark := SourceMark{Epoch: d.mark.Epoch, Sequence: last}
	seq, err := appendMarked(ctx, d.cfg.Log, markedBlock{
		subject: subjectSources + d.cfg.Name, header: headerSourceMark, mark: mark, block: block, afterSeq: d.seq,
	})
	if err != nil {
		return err
	}
	d.mark, d.seq, d.known = mark, seq, mark
	return nil
}
