package audit_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/audit"
)

// behindOnce is a cluster whose first consumer comes to a node that has nothing of the trail yet.
type behindOnce struct {
	jetstream.JetStream
	asked int
}

func (b *behindOnce) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if b.asked++; b.asked == 1 {
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverNewPolicy, 0
	}
	return b.JetStream.CreateConsumer(ctx, stream, cfg)
}

// A node that is behind does not make it seem that entries are gone.
func TestTrailOnANodeThatIsBehind(t *testing.T) {
	l := openLedger(t)
	l.factBy(ada, "cmd.greet", 1)
	a, _ := l.start()
	l.catchUp(a)
	behind := func() *audit.Trail {
		cfg := l.cfg
		cfg.Log.JetStream = &behindOnce{JetStream: cfg.Log.JetStream}
		return audit.NewTrail(cfg)
	}
	page, err := behind().List(t.Context(), audit.Query{})
	if err != nil || len(page.Entries) == 0 {
		t.Errorf("the list has %d entries, %v", len(page.Entries), err)
	}
	report, err := behind().Verify(t.Context())
	if err != nil || report.Problem != nil || report.Entries == 0 {
		t.Errorf("the check says %+v, %v", report, err)
	}
}
