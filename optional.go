package errata

// Optional is a field of a change. The zero value was not sent, and then what
// the field stands for stays as it is. A field cannot be sent as null.
type Optional[T any] struct {
	value T
	sent  bool
}

// Sent is a field that was sent.
func Sent[T any](value T) Optional[T] { return Optional[T]{value, true} }

// Get is the value, and whether it was sent.
func (o Optional[T]) Get() (value T, sent bool) { return o.value, o.sent }

// IsSent says whether it was sent.
func (o Optional[T]) IsSent() bool { return o.sent }

// Or is the value, or what is given where none was sent.
func (o Optional[T]) Or(standing T) T {
	if o.sent {
		return o.value
	}
	return standing
}
