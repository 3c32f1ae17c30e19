package audit_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/audit"
)

// farConsumers are consumers of another node, which the servers do not find at once.
type farConsumers struct{ jetstream.JetStream }

func (f farConsumers) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	consumer, err := f.JetStream.CreateConsumer(ctx, stream, cfg)
	return &farConsumer{Consumer: consumer, unknown: 3}, err
}

// farConsumer is not found by its first fetches.
type farConsumer struct {
	jetstream.Consumer
	unknown int
}

func (f *farConsumer) Fetch(batch int, opts ...jetstream.FetchOpt) (jetstream.MessageBatch, error) {
	if f.unknown--; f.unknown >= 0 {
		return unanswered{}, nil
	}
	return f.Consumer.Fetch(batch, opts...)
}

// unanswered is what a fetch brings that no server has taken.
type unanswered struct{}

func (unanswered) Messages() <-chan jetstream.Msg {
	none := make(chan jetstream.Msg)
	close(none)
	return none
}

func (unanswered) Error() error { return nats.ErrNoResponders }

// A reader asks again for a consumer that it has just made on another node.
func TestConsumerOfAnotherNode(t *testing.T) {
	l := openLedger(t)
	l.factBy(ada, "cmd.greet", 1)
	a, _ := l.start()
	l.catchUp(a)
	far := l.cfg
	far.Log.JetStream = farConsumers{far.Log.JetStream}
	page, err := audit.NewTrail(far).List(t.Context(), audit.Query{})
	if err != nil || len(page.Entries) == 0 {
		t.Errorf("got %d entries, %v", len(page.Entries), err)
	}
}
