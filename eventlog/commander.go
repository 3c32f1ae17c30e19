package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
)

// Answers looks up the answers to commands in the projection. The store of the
// projector implements it.
type Answers interface {
	// Answer returns the stored answer to the command with the sequence, and the
	// checkpoint. The answer is nil while the checkpoint is before the command.
	Answer(ctx context.Context, sequence uint64) (answer Answer, checkpoint uint64, err error)
}

// CommanderConfig says which log a Commander appends to and where it finds the
// answers.
type CommanderConfig struct {
	Log     Log
	Answers Answers
	// Spool has events that this node has accepted and that are not on the log yet, nil for
	// none. Commands come behind them.
	Spool *Log
}

// answerPoll is how often a waiting caller asks the store: the announcement of the
// answer may be lost.
const answerPoll = 500 * time.Millisecond

// maxEarly bounds the answers that are kept although nobody waits for them yet.
const maxEarly = 256

// Commander appends commands to the log and waits until the projection has passed
// them. So a caller that has its answer reads the effect of its command on every
// node.
type Commander struct {
	cfg  CommanderConfig
	stop func() error // ends the subscription

	mu      sync.Mutex
	waiting map[uint64]chan Answer // by sequence; capacity 1
	early   map[uint64]Answer      // announced before the caller knew the sequence
}

// NewCommander subscribes to the progress of the projectors. Close ends the
// subscription.
func NewCommander(cfg CommanderConfig) (*Commander, error) {
	if err := cfg.Log.validate(); err != nil {
		return nil, fmt.Errorf("commander: %w", err)
	}
	if cfg.Answers == nil {
		return nil, errors.New("commander: Answers is required")
	}
	c := &Commander{cfg: cfg, waiting: map[uint64]chan Answer{}, early: map[uint64]Answer{}}
	var err error
	if c.stop, err = FollowProgress(cfg.Log, c.progressed); err != nil {
		return nil, err
	}
	return c, nil
}

// Do appends a command in the name of [errata.ActorOf](ctx), behind all events that this node
// has accepted before, and waits for its answer. Kinds: log_full when the command is not on the
// log, log_unavailable when that is not known or the events are not there yet, store_unavailable
// when the command is on the log and ctx ended before the projection reached it.
func (c *Commander) Do(ctx context.Context, name string, body any) (Answer, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode command %s: %w", name, err)
	}
	if err := c.awaitSpool(ctx); err != nil {
		return nil, logAway("events that this node has accepted are not on the log yet; ask again", err)
	}
	seq, err := appendChange(ctx, c.cfg.Log, subjectCommands+name, data, nuid.Next(), func(err error) error {
		return unavailable(fmt.Errorf("append a command: %w", err))
	})
	if err != nil {
		return nil, err
	}
	return c.await(ctx, seq)
}

// awaitSpool waits until the events that this node has accepted are on the log.
func (c *Commander) awaitSpool(ctx context.Context) error {
	spool := c.cfg.Spool
	if spool == nil {
		return nil
	}
	err := moved(ctx, spool.JetStream, spool.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil // the node starts, and has never had one
	}
	return err
}

// await waits until the projection has passed seq, and returns the answer.
func (c *Commander) await(ctx context.Context, seq uint64) (Answer, error) {
	announced := make(chan Answer, 1)
	c.mu.Lock()
	if answer, ok := c.early[seq]; ok {
		delete(c.early, seq)
		c.mu.Unlock()
		return answer, nil
	}
	c.waiting[seq] = announced
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, seq)
		c.mu.Unlock()
	}()
	poll := time.NewTicker(answerPoll)
	defer poll.Stop()
	for {
		select {
		case answer := <-announced:
			return answer, nil
		case <-poll.C:
			answer, checkpoint, err := c.cfg.Answers.Answer(ctx, seq)
			if err == nil && checkpoint >= seq {
				return answer, nil
			}
		case <-ctx.Done():
			return nil, &errata.Error{
				Kind:       errata.KindStoreUnavailable,
				Message:    "the command is on the log and will take effect, but the projection has not come to it yet",
				RetryAfter: retryLater, Err: ctx.Err(),
			}
		}
	}
}

func (c *Commander) progressed(p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for seq, answer := range p.Answers {
		if waiting, ok := c.waiting[seq]; ok {
			waiting <- answer
			delete(c.waiting, seq)
			continue
		}
		if len(c.early) >= maxEarly { // most are answers to commands of other nodes
			clear(c.early)
		}
		c.early[seq] = answer
	}
}

// Close ends the subscription. A Do that still waits ends with its context.
func (c *Commander) Close() error {
	if err := c.stop(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrBadSubscription) {
		return fmt.Errorf("close commander: %w", err)
	}
	return nil
}
