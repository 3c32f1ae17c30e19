package made_test

import (
	"testing"
	"time"

	"github.com/errata-log/errata/internal/made"
)

func TestAStreamThatMovesStaysTheSame(t *testing.T) {
	first, second, third := time.Unix(100, 123_456_789), time.Unix(200, 0), time.Unix(300, 0)
	if at := made.At(first, map[string]string{"format": "1"}); !at.Equal(first) {
		t.Errorf("made at %v, want what the server says: %v", at, first)
	}
	moved := made.Keep(first, map[string]string{"format": "1"})
	if at := made.At(second, moved); !at.Equal(first) || at.UnixNano() != first.UnixNano() || moved["format"] != "1" {
		t.Errorf("after a move it was made at %v, want %v; metadata %v", at, first, moved)
	}
	if at := made.At(third, made.Keep(second, moved)); !at.Equal(first) {
		t.Errorf("after a second move it was made at %v, want %v", at, first)
	}
	if at := made.At(first, map[string]string{"made": "long ago"}); !at.Equal(first) {
		t.Errorf("made at %v, want %v: the metadata cannot be read", at, first)
	}
}
