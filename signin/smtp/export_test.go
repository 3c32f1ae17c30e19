package smtp

import "errors"

// Retriable says whether another try with the same mail makes sense.
func Retriable(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Retriable
}
