// Package natsin is the receiver over NATS. An application publishes one event, in the
// format of POST /api/v1/events, to
//
//	errors.v1.system
//	errors.v1.database
//
// and waits for the PubAck: then a work queue has the event on disk. A [Receiver]
// takes it from the queue through the same pipeline as every other receiver. The
// subject says the book. The id is that of the event, else that of the header
// Nats-Msg-Id, else made of the place in the queue.
//
// The log gets each event once, however often the queue delivers it. A mark of how
// far the queue was taken stands on the log in the same message as the events. The
// queue gets its acknowledgement only after that. A message that can never become an
// event goes, scrubbed, to the stream of dead letters. Dead letters can be listed,
// published again and dropped; see [Letters].
//
// The package must not scrub, sign or fold events itself, and makes no stream.
package natsin
