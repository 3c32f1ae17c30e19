// Package natstransport is a client.Transport over NATS JetStream. It is for
// applications that reach the NATS of Errata and do not want to depend on its HTTP
// server.
//
//	conn, err := natstransport.Connect("nats://errata_app:…@127.0.0.1:4222")
//	transport, err := natstransport.New(conn, natstransport.Options{})
//	ledger, err := client.New(client.Options{Transport: transport})
//
// Events go to errors.v1.system and errors.v1.database as one JSON object each,
// as POST /api/v1/events takes it, with the event's id as Nats-Msg-Id. An event
// is sent when JetStream has acknowledged it.
//
// Acknowledgements come to a subject with the name of the user, see [Inbox]. Only
// this user may have the permission to listen there.
//
// The package must not make streams, which belong to the service. It must not
// close the connection, which belongs to the application.
package natstransport
