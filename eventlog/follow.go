package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// consumeTimeout bounds opening a consumer.
	consumeTimeout = 2 * time.Second
	// followHeartbeat is how often an idle server says that it is there; after
	// two missed ones the consumer is opened anew.
	followHeartbeat = 2 * time.Second
	// followPull is how long one request for messages stands; the library
	// wants at least two heartbeats in it.
	followPull = 30 * time.Second
	// followRenewal is after what time a consumer that works is opened anew
	// all the same. What was lost on the way without anybody noticing is then
	// delivered, because each consumer begins with the newest facts.
	followRenewal = time.Minute
	// followForgotten is when the server forgets a consumer nobody reads.
	followForgotten = 30 * time.Second
)

// The reasons to open a consumer anew although nothing is wrong.
var (
	errReconnected = errors.New("the connection was made anew")
	errRenewal     = errors.New("the consumer is old")
)

// FollowSettings calls on with the newest fact of each setting and then with
// each new one, until ctx ends or following fails; it always returns an error.
// A fact may come again, and an older one after a newer one: look at the
// sequence. After a reconnect it begins anew by itself.
func FollowSettings(ctx context.Context, log Log, on func(Setting)) error {
	for {
		err := followOnce(ctx, log, on)
		if !errors.Is(err, errReconnected) && !errors.Is(err, errRenewal) {
			return err
		}
	}
}

// followOnce follows by one consumer. A plain one is enough where an ordered
// one would be needed to miss nothing: only the newest value counts.
func followOnce(ctx context.Context, log Log, on func(Setting)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, cancelRenewal := context.WithTimeoutCause(ctx, followRenewal, errRenewal)
	defer cancelRenewal()
	connected := log.NATS.StatusChanged(nats.CONNECTED)
	defer log.NATS.RemoveStatusListener(connected)
	go func() { // ends with ctx
		select {
		case <-connected:
			cancel(errReconnected)
		case <-ctx.Done():
		}
	}()
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
			continue // whoever reads all facts tells of it
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

// following is why following ended: the reason that ctx ended, else err.
func following(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("follow the settings: %w", err)
}
