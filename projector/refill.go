package projector

import (
	"context"

	"github.com/errata-log/errata/eventlog"
)

// trimWindow removes from the window the ids that a snapshot lets go.
func (s *session) trimWindow(f eventlog.Fact) {
	if cmd := parseCommand(&f); cmd.snapshot != nil {
		s.window.trim(cmd.snapshot.Keep)
	}
}

// refill adds the ids of a fact that is in the tables to the window.
func (s *session) refill(ctx context.Context, f eventlog.Fact) error {
	switch f.Kind {
	case eventlog.FactEvents:
	case eventlog.FactGap:
		s.files.gap()
		return nil
	default:
		s.files.passed(f.Sequence)
		return nil
	}
	block, err := eventlog.BlockIDs(f.Data)
	if err != nil {
		s.files.gap() // the block was counted as poison when it was folded
		return nil    //nolint:nilerr // likewise
	}
	s.window.begin(f.Sequence, block.Received, block.Len())
	for i := range block.Len() {
		s.window.add(block.ID(i))
	}
	s.files.added(f.Sequence, block)
	oldest, _ := s.window.from(f.Sequence + 1)
	return s.files.keep(ctx, oldest)
}
