package ops_test

import (
	"context"
	"errors"
	"testing"

	"github.com/errata-log/errata/ops"
)

// made is a projector whose records have everything up to a fact.
type made uint64

func (m made) Shown() uint64 { return uint64(m) }

func (m made) Await(_ context.Context, sequence uint64) error {
	if sequence > uint64(m) {
		return errors.New("not yet")
	}
	return nil
}

// TestPositionsOfRecordsThatNobodyMayRead: no caller waits for those.
func TestPositionsOfRecordsThatNobodyMayRead(t *testing.T) {
	catching := errors.New("the records are catching up")
	var why error
	p := ops.Positions{Projector: made(8), Ready: []func() error{func() error { return nil }, func() error { return why }}}
	if err := p.Await(t.Context(), 8); err != nil || p.Shown() != 8 {
		t.Errorf("a fact that is there: %v at %d, want none at 8", err, p.Shown())
	}
	why = catching
	for _, sequence := range []uint64{8, 9} {
		if err := p.Await(t.Context(), sequence); !errors.Is(err, catching) {
			t.Errorf("fact %d while nobody may read: %v, want %v", sequence, err, catching)
		}
	}
}
