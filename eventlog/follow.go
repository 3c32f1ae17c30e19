package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
)

const (
	// consumeTimeout bounds opening a consumer.
	consumeTimeout = 2 * time.Second
	// followHeartbeat is how often an idle server sends a heartbeat. After two
	// missed ones the consumer is opened again. It is shorter than that of other
	// readers: damage in the log can stop the consumer, and missed heartbeats are
	// the only sign of that.
	followHeartbeat = 2 * time.Second
	// followPull is how long one request for messages lasts; the library wants at
	// least two heartbeats in it.
	followPull = 30 * time.Second
	// followRenewal is when a working consumer is opened again too. Each consumer
	// begins with the newest facts, so a fact that was lost on the way and not
	// noticed arrives then.
	followRenewal = time.Minute
	// followForgotten is when the server deletes a consumer that nobody reads.
	followForgotten = 30 * time.Second
)

// errRenewal is why a consumer is opened again although nothing is wrong.
var errRenewal = errors.New("the consumer is old")

// FollowSettings calls on with the newest fact of each setting and then with each
// new one, until ctx ends or an error; it always returns an error. A fact may come
// twice, and an older one after a newer one, so on must compare the sequences.
// After a reconnect it begins again by itself.
func FollowSettings(ctx context.Context, log Log, on func(Setting)) error {
	for {
		err := followOnce(ctx, log, on)
		if !errors.Is(err, ordered.ErrReconnected) && !errors.Is(err, errRenewal) {
			return err
		}
	}
}

// followOnce follows with one consumer. It need not be an ordered one, which misses
// no fact: only the newest value counts.
func followOnce(ctx context.Context, log Log, on func(Setting)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, cancelRenewal := context.WithTimeoutCause(ctx, followRenewal, errRenewal)
	defer cancelRenewal()
	defer ordered.OnReconnect(log.NATS, func() { cancel(ordered.ErrReconnected) })()
	messages, err := consumeSettings(ctx, log)
	if err != nil {
		return following(ctx, err)
	}
	defer messages.Stop()
	for {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return following(ctx, err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("metadata of a setting: %w", err)
		}
		subject := strings.TrimPrefix(msg.Subject(), log.Prefix)
		if !sound(subject, msg.Headers(), msg.Data()) {
			continue // a Reader of all facts reports it as a gap
		}
		on(Setting{
			Name:     strings.TrimPrefix(subject, subjectSettings),
			Sequence: meta.Sequence.Stream, Data: msg.Data(), By: actorIn(msg.Headers()),
		})
	}
}

func consumeSettings(ctx context.Context, log Log) (jetstream.MessagesContext, error) {
	ctx, cancel := context.WithTimeout(ctx, consumeTimeout)
	defer cancel()
	consumer, err := log.JetStream.CreateConsumer(ctx, log.Stream, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		FilterSubject:     log.Prefix + subjectSettings + ">",
		AckPolicy:         jetstream.AckNonePolicy,
		InactiveThreshold: followForgotten,
		Replicas:          1,
		MemoryStorage:     true,
	})
	if err != nil {
		return nil, fmt.Errorf("consume the settings: %w", err)
	}
	messages, err := consumer.Messages(jetstream.PullExpiry(followPull), jetstream.PullHeartbeat(followHeartbeat))
	if err != nil {
		return nil, fmt.Errorf("pull the settings: %w", err)
	}
	return messages, nil
}

// following returns the reason why ctx ended, else err.
func following(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("follow the settings: %w", err)
}
