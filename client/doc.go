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
// An event gets its id before it is queued and keeps it, so that it counts once
// however often it is sent. It leaves the queue when the service has said that
// it is on disk. When the queue is full the newest events are dropped, because
// the first ones tell where the trouble began; what was dropped is counted,
// shown by [Client.Stats], and reported as an event of its own.
//
// A nil *Client does nothing, so an application may go on where New failed.
//
// The package must never panic into the application, never block it, and never
// log: what goes wrong is told to Options.OnError. It scrubs nothing, the
// service does; Options.BeforeSend is for what must not leave the process. It
// must not import anything of the service.
package client
