package ops

import "context"

// Positions says how far the records of this node are, for callers who have seen more
// elsewhere. All fields are required.
type Positions struct {
	// Projector makes the records.
	Projector interface {
		Shown() uint64
		Await(ctx context.Context, sequence uint64) error
	}
	// Ready are nil while the records may be read.
	Ready []func() error
}

// Shown is the last fact of which the records may show something.
func (p Positions) Shown() uint64 { return p.Projector.Shown() }

// Await returns when the records have the fact with the sequence. It does not wait while
// nobody may read them: that lasts longer than a caller waits. Errors: those of Ready and of
// the projector.
func (p Positions) Await(ctx context.Context, sequence uint64) error {
	for _, ready := range p.Ready {
		if err := ready(); err != nil {
			return err
		}
	}
	return p.Projector.Await(ctx, sequence)
}
