// Package client sends the errors of a Go application to Errata.
//
//	ledger, err := client.New(client.Options{DSN: os.Getenv("ERRORS_DSN")})
//	defer ledger.Close(ctx)
//	ledger.Capture(ctx, err, client.With("order", 42))
//
//	Capture ┐                 ┌ queue ┐
//	slog    ├▶ event, encoded ┤ 1,000 ├▶ worker ─ batches ─▶ Transport
//	panics  ┘   in the caller └───────┘   backoff             HTTP or NATS
//
// An event gets its id before it is queued, so that it counts once even if it is
// sent again. It leaves the queue when the service has answered that it is on
// disk. When the queue is full, the newest events are dropped, because the first
// ones show where the trouble began. [Client.Stats] counts the dropped events,
// and the client reports their number as an event.
//
// A nil *Client does nothing, so an application may go on when New failed.
//
// The package must never panic into the application, block it, or log: errors go
// to Options.OnError. It does not scrub, the service does; Options.BeforeSend can
// remove what must not leave the process. It must not import any package of the
// service.
package client
