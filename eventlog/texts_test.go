package eventlog

import (
	"fmt"
	"testing"
	"unsafe"
)

func TestTexts(t *testing.T) {
	met := NewTexts()
	first := met.text([]byte("could not charge order"))
	if again := met.text([]byte("could not charge order")); again != first || unsafe.StringData(again) != unsafe.StringData(first) {
		t.Errorf("%q was met before and is %q, in memory of its own", first, again)
	}
	for _, remembers := range []*Texts{met, nil} {
		// Ten for each place, so that most take the place of another one.
		for i := range 10 * textsMet {
			want := fmt.Sprint("text ", i%(3*textsMet))
			if got := remembers.text([]byte(want)); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		if got := remembers.text(nil); got != "" {
			t.Errorf("no text is %q", got)
		}
	}
}

// The memory of a block is used again, and a text must not change with it.
func TestTextsAreCopies(t *testing.T) {
	met, block := NewTexts(), []byte("OrderError")
	class := met.text(block)
	copy(block, "Overwritten")
	if class != "OrderError" || met.text([]byte("OrderError")) != "OrderError" {
		t.Errorf("the text is %q now", class)
	}
}
