// Package natstransport is a client.Transport over NATS JetStream: for
// applications that reach the NATS of Errata and would rather not depend on
// its HTTP server being up.
//
//	conn, err := natstransport.Connect("nats://errata_app:…@127.0.0.1:4222")
//	transport, err := natstransport.New(conn, natstransport.Options{})
//	ledger, err := client.New(client.Options{Transport: transport})
//
// Events go to errors.v1.system and errors.v1.database as one JSON object each,
// as POST /api/v1/events takes it, with the event's id as Nats-Msg-Id. An event
// is sent when JetStream has acknowledged it.
//
// Acknowledgements come at a subject that begins with the name of the user, see
// [Inbox]: the user must be let listen there, and nobody else.
//
// The package must not make streams: where the subjects lead is the service's
// business. The connection stays the application's.
package natstransport
