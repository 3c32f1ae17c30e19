package eventlog

import (
	"fmt"
	"testing"
	"unsafe"
)

func TestTexts(t *testing.T) {
	const room = 1024
	met, text := NewTexts(), []byte("could not charge order")
	for range 3 { // it is remembered when it was missed three times
		textOf(met, text)
	}
	first := textOf(met, text)
	if again := textOf(met, text); again != first || unsafe.StringData(again) != unsafe.StringData(first) {
		t.Errorf("%q was met before and is %q, in memory of its own", first, again)
	}
	for _, remembers := range []*Texts{met, nil} {
		// Three times as many different texts as there is room for, each of them often.
		for i := range 30 * room {
			want := fmt.Sprint("text ", i%(3*room))
			if got := textOf(remembers, []byte(want)); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		if got := textOf(remembers, nil); got != "" {
			t.Errorf("no text is %q", got)
		}
	}
}

// The memory of a block is used again, and a text must not change with it.
func TestTextsAreCopies(t *testing.T) {
	met, block := NewTexts(), []byte("OrderError")
	var class string
	for range 4 { // the last time it comes from those that are remembered
		class = textOf(met, block)
	}
	copy(block, "Overwritten")
	if class != "OrderError" || textOf(met, []byte("OrderError")) != "OrderError" {
		t.Errorf("the text is %q now", class)
	}
}
