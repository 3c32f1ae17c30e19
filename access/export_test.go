package access

// Changed is closed when the copy in memory is replaced by a newer one, so
// that tests can wait for the watch without sleeping.
func (s *Store) Changed() <-chan struct{} { return s.current.Load().replaced }

// CheckOf makes the check of keys.
var CheckOf = check
