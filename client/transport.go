package client

import (
	"context"
	"time"
)

// Message is an event that is ready to be sent.
type Message struct {
	// ID is the id of the event. The service counts an id once.
	ID string
	// Book is "system" or "database", "" when the service decides.
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

// Transport sends messages to the service. One goroutine calls it. Each method
// must return soon after its context has ended.
type Transport interface {
	// Send returns when the messages are on the service's disk, but for refused.
	// After an error the client sends all messages again, unless a *SendError says
	// something else.
	Send(ctx context.Context, batch []Message) (refused []Refusal, err error)
	// Close releases the resources of the transport. It is called once.
	Close(ctx context.Context) error
}

// SendError is an error of a Transport that says what to do about it.
type SendError struct {
	Err error
	// After is how long the service asks to wait; 0 leaves it to the client.
	After time.Duration
	// Final says that no further try helps.
	Final bool
	// Doubtful says that only a few more tries make sense.
	Doubtful bool
	// TooLarge says that a smaller batch may be taken.
	TooLarge bool
}

// Error is the text of the cause.
func (f *SendError) Error() string { return f.Err.Error() }

// Unwrap is the cause.
func (f *SendError) Unwrap() error { return f.Err }
