package clients

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/client"
	"github.com/errata-log/errata/client/natstransport"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
)

// TestClientOverNATS is the package client that publishes its events to
// JetStream, over a connection that the application has already.
func TestClientOverNATS(t *testing.T) {
	s := start(t, func(o *app.Options) { o.NATSListen, o.NATSProject = "127.0.0.1:0", 1 })
	conn, err := nats.Connect(s.File(t, datadir.NATSFile))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	transport, err := natstransport.New(conn, natstransport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := client.New(client.Options{
		Transport: transport, Release: "shop@1.4.2", Environment: "production",
		InApp: []string{"github.com/errata-log/errata/test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var at placed
	natsShop(t.Context(), ledger, &at)
	ctx, cancel := context.WithTimeout(t.Context(), servicetest.RequestTimeout)
	defer cancel()
	if err := ledger.Close(ctx); err != nil {
		t.Fatal(err)
	}
	// An acknowledgement says that they are in the queue, not on the log yet.
	s.await(t, func(sums map[string]float64) bool { return sums["errata_events_folded_total"] >= 4 })

	const file, function = "test/clients/nats_test.go", "natsShop"
	nested := fields{
		Type: "database", Level: "error", Class: "*clients.orderError", Message: "load order: order 42 failed", Count: 2, Handled: "yes",
		Chain: []string{"*clients.orderError: load order: order 42 failed"},
	}.thrown(file, at.nested, function).checkout().shop("nats")
	message := fields{Level: "info", Message: "queue is full", Chain: []string{": queue is full"}}.thrown(file, at.message, function).shop("nats")
	panicked := fields{
		Level: "fatal", Class: "runtime.plainError", Message: "assignment to entry in nil map", Handled: "no",
		Chain: []string{"runtime.plainError: assignment to entry in nil map"},
	}.thrown(file, at.panicked, function).shop("nats")
	s.check(t, nested, message, panicked)
	for _, r := range s.records(t) {
		if chain := r.Payload.Extra.Chain; r.Line == at.nested && (len(chain) != 2 || chain[0].Class != "*fmt.wrapError" || chain[1].Message != "order 42 failed") {
			t.Errorf("the chain is %+v", chain)
		}
	}
}

// natsShop is the application.
func natsShop(ctx context.Context, ledger *client.Client, at *placed) {
	r := httptest.NewRequestWithContext(ctx, "POST", "/checkout?page=2&token=s3cret", nil)
	for i := range 2 {
		err := fmt.Errorf("load order: %w", &orderError{42 + i})
		at.nested = here() + 1
		ledger.Capture(ctx, err, client.WithRequest(r), client.WithUser("1204"), client.WithIP("203.0.113.9"), client.WithType("database"))
	}
	at.message = here() + 1
	ledger.CaptureMessage(ctx, "queue is full")
	defer ledger.Recover(ctx)
	var stock map[string]int
	at.panicked = here() + 1
	stock["tea"]++ //nolint:staticcheck // that it panics is the point
}
