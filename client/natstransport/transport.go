package natstransport

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/client"
)

// DefaultSubject begins the subjects of both books.
const DefaultSubject = "errors.v1"

// The books. A book is the end of a subject.
const (
	bookSystem   = "system"
	bookDatabase = "database"
)

// Options say where events go.
type Options struct {
	// Subject begins the subjects; "" means DefaultSubject.
	Subject string
	// Header is added to every message.
	Header nats.Header
}

// Transport publishes messages. Make it with New.
type Transport struct {
	conn    *nats.Conn
	answers answers
	subject string
	header  nats.Header
}

var _ client.Transport = (*Transport)(nil)

// New makes a transport over a connection, which must outlive it. It sends
// nothing.
func New(conn *nats.Conn, o Options) (*Transport, error) {
	if conn == nil {
		return nil, errors.New("make a NATS transport: the connection is missing")
	}
	if o.Subject == "" {
		o.Subject = DefaultSubject
	}
	return &Transport{conn: conn, answers: newAnswers(inboxOf(&conn.Opts)), subject: o.Subject, header: o.Header}, nil
}

// Send publishes the batch and waits for every acknowledgement. A message that
// JetStream already has counts as sent.
func (t *Transport) Send(ctx context.Context, batch []client.Message) (refused []client.Refusal, err error) {
	if err := t.answers.listen(t.conn); err != nil {
		return nil, fmt.Errorf("listen for acknowledgements: %w", err)
	}
	// Answers do not come over a new connection.
	lost := t.conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer t.conn.RemoveStatusListener(lost)
	waits := make([]*wait, len(batch))
	var last error
	for i, m := range batch {
		waits[i] = t.answers.expect()
		defer t.answers.forget(waits[i])
		msg := t.message(m)
		msg.Reply = waits[i].subject
		if err := t.conn.PublishMsg(msg); err != nil {
			waits[i].answer <- err
		}
	}
	for i, w := range waits {
		select {
		case err := <-w.answer:
			if err != nil {
				last = err
				refused = append(refused, refusal(i, err))
			}
		case <-lost:
			return nil, fmt.Errorf("wait for an acknowledgement from JetStream: %w", nats.ErrDisconnected)
		case <-ctx.Done():
			// JetStream recognises a stored message by its id when it comes again.
			return nil, fmt.Errorf("no acknowledgement from JetStream: %w", context.Cause(ctx))
		}
	}
	if len(refused) == len(batch) && refused[0].Passing {
		return nil, fmt.Errorf("publish to %s: %w", t.subject, last)
	}
	return refused, nil
}

// message is m as a message of NATS. An event without a book goes to the system
// book, because the subject must name one.
func (t *Transport) message(m client.Message) *nats.Msg {
	book := bookSystem
	if m.Book == bookDatabase {
		book = bookDatabase
	}
	msg := &nats.Msg{Subject: t.subject + "." + book, Data: m.Body, Header: nats.Header{}}
	for name, values := range t.header {
		msg.Header[name] = slices.Clone(values)
	}
	msg.Header.Set(jetstream.MsgIDHeader, m.ID)
	return msg
}

// refusal says what an error means for its message. Only a message that is too
// large is refused for good; a full or a missing stream passes.
func refusal(index int, err error) client.Refusal {
	var answered *jetstream.APIError
	tooLarge := errors.Is(err, nats.ErrMaxPayload) || errors.As(err, &answered) && answered.ErrorCode == jetstream.JSErrCodeStreamMessageExceedsMaximum
	return client.Refusal{Index: index, Reason: err.Error(), Passing: !tooLarge}
}

// Close ends the subscription for acknowledgements.
func (t *Transport) Close(context.Context) error { return t.answers.close() }
