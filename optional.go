package errata

// Optional is a field of a change. The zero value was not sent: the present value
// stays. A field cannot be sent as null.
type Optional[T any] struct {
	value T
	sent  bool
}

// Sent is a field that was sent with the value.
func Sent[T any](value T) Optional[T] { return Optional[T]{value, true} }

// Get is the value, and whether the field was sent.
func (o Optional[T]) Get() (value T, sent bool) { return o.value, o.sent }

// IsSent says whether the field was sent.
func (o Optional[T]) IsSent() bool { return o.sent }

// Or is the value that was sent, else the present one.
func (o Optional[T]) Or(present T) T {
	if o.sent {
		return o.value
	}
	return present
}
