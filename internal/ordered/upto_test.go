package ordered_test

import (
	"errors"
	"testing"

	"github.com/errata-log/errata/internal/ordered"
)

func (s *server) wantUpTo(r *ordered.Reader, last uint64, sequences ...uint64) {
	s.t.Helper()
	for _, want := range sequences {
		if _, meta, err := r.NextUpTo(s.t.Context(), last); err != nil || meta.Sequence.Stream != want {
			s.t.Fatalf("got %+v, %v, want message %d", meta, err, want)
		}
	}
	for range 2 {
		if _, meta, err := r.NextUpTo(s.t.Context(), last); !errors.Is(err, ordered.ErrEnd) {
			s.t.Fatalf("got %+v, %v, want the end", meta, err)
		}
	}
}

func TestUpToAMessage(t *testing.T) {
	s := newServer(t)
	s.wantUpTo(s.open(1), 0)
	s.wantUpTo(s.open(1), 5)
	s.publish("a", "b", "a", "b", "b")
	s.wantUpTo(s.open(2), 4, 2, 3, 4)
	s.wantUpTo(s.open(1), 9, 1, 2, 3, 4, 5)
	s.wantUpTo(s.open(1, "a"), 4, 1, 3)
	s.wantUpTo(s.open(1, "a"), 5, 1, 3)
	s.wantUpTo(s.open(6), 5)
	r := s.open(4)
	s.wantUpTo(r, 9, 4, 5)
	s.publish("a")
	s.wantUpTo(r, 9, 6) // the node that leads knows of it
}

// A node that is behind does not end the reading of what others have.
func TestUpToOnANodeThatIsBehind(t *testing.T) {
	s := newServer(t)
	s.publish("a", "b", "a", "b")
	s.beBehind(1)
	s.wantUpTo(s.open(1), 4, 1, 2, 3, 4)
	s.beBehind(2)
	s.wantUpTo(s.open(1, "b"), 4, 2, 4)
	s.beBehind(1)
	s.wantUpTo(s.open(4, "a"), 4)
	s.beBehind(1 << 20)
	if _, meta, err := s.open(1).NextUpTo(t.Context(), 4); !errors.Is(err, ordered.ErrBehind) {
		t.Errorf("all nodes are behind: got %+v, %v", meta, err)
	}
}
