// Package natsin is the way in over NATS. An application publishes one event,
// as POST /api/v1/events takes it, to
//
//	errors.v1.system
//	errors.v1.database
//
// and waits for the PubAck: then the event is on disk, on a work queue. A
// [Receiver] takes it from there through the same pipeline as every other way
// in. The book is the subject's. The id is the event's own, else that of the
// header Nats-Msg-Id, else made of the place in the queue.
//
// Each event gets onto the log once, however often the queue delivers it: how
// far the queue was taken stands on the log in the same message as the events,
// and a message is acknowledged only behind that. What can never become an
// event goes to the stream of dead letters, scrubbed, from where it can be
// listed, published again and dropped; see [Letters].
//
// The package must not scrub, sign or fold events itself, and makes no stream.
package natsin
