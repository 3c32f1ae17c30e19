package testenv

import (
	"context"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ServeNATS starts a NATS server on a copy of our folder of NATS's files, as an
// operator would, and returns its URL. It ends with the test. Without change it
// is nats-server -js -sd FOLDER.
func ServeNATS(t testing.TB, folder string, change ...func(*server.Options)) (url string) {
	t.Helper()
	options := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: folder, JetStreamMaxStore: 2 * storeBytes,
	}
	for _, do := range change {
		do(options)
	}
	srv, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	if !srv.ReadyForConnections(startTimeout) {
		t.Fatal("the NATS server on a copy did not start")
	}
	return srv.ClientURL()
}

// DialJetStream connects to a NATS server until the test ends.
func DialJetStream(t testing.TB, url string, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Behind is a cluster of which the next Consumers consumers come to a node that has no message of
// the stream yet.
type Behind struct {
	jetstream.JetStream
	Consumers int
}

// CreateConsumer implements [jetstream.JetStream].
func (b *Behind) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if b.Consumers > 0 {
		b.Consumers--
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverNewPolicy, 0
	}
	return b.JetStream.CreateConsumer(ctx, stream, cfg)
}
