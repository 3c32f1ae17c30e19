// Package natstransport is a client.Transport over NATS JetStream: for
// applications that reach the NATS of Errata and would rather not depend on
// its HTTP server being up.
//
//	transport, err := natstransport.New(conn, natstransport.Options{})
//	ledger, err := client.New(client.Options{Transport: transport})
//
// Events go to errors.v1.system and errors.v1.database as one JSON object each,
// as POST /api/v1/events takes it, with the event's id as Nats-Msg-Id. An event
// is sent when JetStream has acknowledged it.
//
// The package must not make streams: where the subjects lead is the service's
// business. The connection stays the application's.
package natstransport
