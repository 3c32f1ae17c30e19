package natsin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
)

const (
	// A batch is what waits, up to maxBatch messages or maxBytes bytes.
	maxBatch = 500
	maxBytes = 4 << 20
	// ackWait is when the queue delivers a message again that was not
	// acknowledged. A batch takes milliseconds, and a log that is away longer
	// ends the session before.
	ackWait = time.Minute
	// idleLimit is how long the queue remembers a reader that is gone.
	idleLimit = 10 * time.Second
	// The reader asks again after pullExpiry, and notices within two heartbeats
	// that the server has forgotten it.
	pullExpiry    = 10 * time.Second
	pullHeartbeat = time.Second
	// goodbyeTimeout bounds telling the queue that nobody reads any more.
	goodbyeTimeout = time.Second
)

// errTaken says that another node reads the queue.
var errTaken = errors.New("another node reads the queue")

// codesTaken are JetStream's codes for a work queue that has its reader.
var codesTaken = map[jetstream.ErrorCode]bool{10099: true, 10100: true}

// session is one reading of the queue from its first message on. Its consumer
// is its own, so the first delivery of each message comes in order, and a
// message that was lost on the way shows as a gap in the deliveries.
type session struct {
	*Receiver
	mark     eventlog.SourceMark
	markSeq  uint64 // of the mark on the log
	delivery uint64 // of the latest message
	progress bool
}

// session reads until ctx ends or something is in doubt.
func (r *Receiver) session(ctx context.Context) (progress bool, err error) {
	stream, err := r.cfg.Queues.JetStream.Stream(ctx, r.cfg.Queues.Intake)
	if err != nil {
		return false, fmt.Errorf("open the queue %s: %w", r.cfg.Queues.Intake, err)
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Description: "Errata takes events to its log",
		AckPolicy:   jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 2 * maxBatch,
		InactiveThreshold: idleLimit, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		var refused *jetstream.APIError
		if errors.As(err, &refused) && codesTaken[refused.ErrorCode] {
			r.since.Store(0)
			return false, errTaken
		}
		return false, fmt.Errorf("read the queue %s: %w", r.cfg.Queues.Intake, err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeTimeout)
		defer cancel()
		_ = stream.DeleteConsumer(ctx, consumer.CachedInfo().Name) // else the queue forgets it by itself
	}()
	s := &session{Receiver: r}
	if err := s.locate(ctx, stream); err != nil {
		return false, err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxBatch), jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(pullHeartbeat))
	if err != nil {
		return false, fmt.Errorf("pull the queue: %w", err)
	}
	defer messages.Stop()
	for {
		batch, err := s.collect(ctx, messages)
		if err == nil {
			err = s.take(ctx, batch)
		}
		if err != nil {
			return s.progress, err
		}
	}
}

// locate finds out how far the log has taken the queue. It comes after the
// consumer was made: nobody else goes on with the queue from then on. A queue
// that ends before its mark was restored from a backup and uses sequences
// again, for which the mark says nothing.
func (s *session) locate(ctx context.Context, stream jetstream.Stream) (err error) {
	if s.mark, s.markSeq, err = eventlog.LastSource(ctx, s.cfg.Log, markName); err != nil {
		return err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("inspect the queue: %w", err)
	}
	epoch := info.Created.UnixNano()
	if known := s.Receiver.mark; s.mark.Epoch != epoch || known.Epoch == epoch && known.Sequence > s.mark.Sequence {
		s.mark = known // the log was purged beyond the mark
	}
	if s.mark.Epoch != epoch || s.mark.Sequence > info.State.LastSeq {
		s.mark = eventlog.SourceMark{Epoch: epoch}
	}
	s.Receiver.mark = s.mark
	return nil
}

// delivered is a message with its way back.
type delivered struct {
	message
	jetstream.Msg
}

// collect waits for a message and takes along what waits behind it.
func (s *session) collect(ctx context.Context, messages jetstream.MessagesContext) (batch []delivered, err error) {
	for size := 0; len(batch) < maxBatch && size < maxBytes; {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return nil, fmt.Errorf("next message: %w", err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return nil, fmt.Errorf("metadata of a message: %w", err)
		}
		if meta.Sequence.Consumer != s.delivery+1 {
			return nil, fmt.Errorf("delivery %d came after %d: messages were lost on the way", meta.Sequence.Consumer, s.delivery)
		}
		s.delivery++
		s.metrics.pending.Set(float64(meta.NumPending))
		headers := msg.Headers()
		batch = append(batch, delivered{message{
			subject: strings.TrimPrefix(msg.Subject(), s.cfg.Queues.Prefix), data: msg.Data(),
			header: headers.Get, sequence: meta.Sequence.Stream, stamp: meta.Timestamp.UnixNano(),
		}, msg})
		size += len(msg.Data())
		if len(batch) == 1 {
			s.since.Store(meta.Timestamp.UnixNano())
		}
		if meta.NumPending == 0 {
			break
		}
	}
	return batch, nil
}

// take puts the events of the batch on the log and acknowledges it. What is
// refused becomes a letter before the log says that the batch is done with.
func (s *session) take(ctx context.Context, batch []delivered) error {
	var drafts []ingest.Draft
	var from []*message // of each draft
	fresh := len(batch)
	for i := range batch {
		m := &batch[i].message
		if m.sequence <= s.mark.Sequence {
			s.metrics.repeated.Inc()
			fresh--
			continue
		}
		draft, refused := m.draft(s.mark.Epoch)
		if refused != nil {
			if err := s.refuse(ctx, m, refused); err != nil {
				return err
			}
			continue
		}
		drafts, from = append(drafts, draft), append(from, m)
	}
	if len(drafts) > 0 {
		if err := s.accept(ctx, drafts, from); err != nil {
			return err
		}
	}
	// Everything up to here is done with, and what comes again is a repeat. The
	// mark on the log says so only as far as there are events: before them, it
	// is harmless to begin again.
	s.mark.Sequence = max(s.mark.Sequence, batch[len(batch)-1].sequence)
	s.Receiver.mark = s.mark
	s.progress = true
	s.since.Store(0)
	s.metrics.taken.Add(float64(fresh))
	for i := range batch {
		if err := s.ack(batch[i].Msg); err != nil {
			return fmt.Errorf("acknowledge message %d: %w", batch[i].sequence, err)
		}
	}
	return nil
}

func (s *session) refuse(ctx context.Context, m *message, refused *errata.Error) error {
	if err := s.letters.put(ctx, m, s.mark.Epoch, refused); err != nil {
		return err
	}
	s.metrics.dead.WithLabelValues(string(refused.Kind)).Inc()
	return nil
}

// accept takes the drafts through the pipeline onto the log.
func (s *session) accept(ctx context.Context, drafts []ingest.Draft, from []*message) error {
	src := ingest.Source{Project: s.cfg.Project, KeyID: sourceName, Received: s.cfg.Now()}
	stored := false
	receipt, err := s.cfg.Accepter.AcceptTo(ctx, src, drafts, func(ctx context.Context, events []errata.Event, rejected []ingest.Rejection) error {
		stored = true
		return s.store(ctx, events, rejected, from)
	})
	if err != nil || stored {
		return err
	}
	for _, rejection := range receipt.Rejected { // all of them
		if err := s.refuse(ctx, from[rejection.Index], rejection.Err); err != nil {
			return err
		}
	}
	return nil
}

// store appends the events in as few blocks as they fit into. Each carries the
// place of its last event in the queue.
func (s *session) store(ctx context.Context, events []errata.Event, rejected []ingest.Rejection, from []*message) error {
	gone := map[int]bool{}
	for _, rejection := range rejected {
		gone[rejection.Index] = true
		if err := s.refuse(ctx, from[rejection.Index], rejection.Err); err != nil {
			return err
		}
	}
	var block eventlog.ImportBlock
	var last uint64
	next := 0 // of events
	for i, m := range from {
		if gone[i] {
			continue
		}
		if err := block.Add(&events[next]); err != nil {
			refused := errata.Errorf(errata.KindBodyTooLarge, "the event is larger than the log takes").Because(err)
			if err := s.refuse(ctx, m, refused); err != nil {
				return err
			}
		} else {
			last = m.sequence
		}
		if next++; block.Full() {
			if err := s.append(ctx, &block, last); err != nil {
				return err
			}
		}
	}
	if block.Len() == 0 {
		return nil
	}
	return s.append(ctx, &block, last)
}

func (s *session) append(ctx context.Context, block *eventlog.ImportBlock, last uint64) error {
	mark := eventlog.SourceMark{Epoch: s.mark.Epoch, Sequence: last}
	seq, err := eventlog.AppendSource(ctx, s.cfg.Log, markName, s.markSeq, block.Seal(), mark)
	if err != nil {
		return err
	}
	s.mark, s.markSeq, s.Receiver.mark = mark, seq, mark
	return nil
}
