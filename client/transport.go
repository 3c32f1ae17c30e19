package client

import (
	"context"
	"time"
)

// Message is an event that is ready to be sent.
type Message struct {
	// ID is that of the event: whoever receives it twice counts it once.
	ID string
	// Book is "system" or "database", "" where the service decides.
	Book string
	// Body is the event as one JSON object without line breaks.
	Body []byte
}

// Refusal is a message of a batch that was not taken.
type Refusal struct {
	Index  int
	Reason string
	// Passing says that it may be taken later.
	Passing bool
}

// Transport brings messages to the service. One goroutine calls it, and each
// of the two must end soon after its context has.
type Transport interface {
	// Send returns when the messages are safe. Refused are those that are not;
	// an error means that none can be relied on and all are sent again, unless
	// it is a *SendError that says otherwise.
	Send(ctx context.Context, batch []Message) (refused []Refusal, err error)
	// Close gives back what the transport holds. It is called once.
	Close(ctx context.Context) error
}

// SendError is an error of a Transport that says what to do about it.
type SendError struct {
	Err error
	// After is how long the service asks to wait; 0 leaves it to the client.
	After time.Duration
	// Final says that no further try helps.
	Final bool
	// Doubtful says that a few more tries may help, but not for ever.
	Doubtful bool
	// TooLarge says that fewer messages at once may be taken.
	TooLarge bool
}

// Error is the text of the cause.
func (f *SendError) Error() string { return f.Err.Error() }

// Unwrap is the cause.
func (f *SendError) Unwrap() error { return f.Err }
