package recent_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/internal/recent"
)

// look finds the text in the table, or works its value out as a user of the table does.
func look(t *recent.Table[string], text string) (value string, found bool) {
	value, at, found := t.Find(text)
	if !found {
		value = strings.ToUpper(text)
		t.Keep(at, text, func(own string) string { return strings.ToUpper(own) })
	}
	return value, found
}

func TestFromTheThirdTimeOn(t *testing.T) {
	table := recent.New[string](4, 10)
	for i, want := range []bool{false, false, false, true, true} {
		if value, found := look(table, "a text"); value != "A TEXT" || found != want {
			t.Errorf("time %d: %q, found %t", i, value, found)
		}
	}
	if value, _, found := table.FindBytes([]byte("a text")); value != "A TEXT" || !found {
		t.Errorf("in bytes: %q, %t", value, found)
	}
	for range 4 {
		if value, found := look(table, "a longer text"); value != "A LONGER TEXT" || found {
			t.Errorf("over the limit: %q, found %t", value, found)
		}
		if value, found := look(nil, "a text"); value != "A TEXT" || found {
			t.Errorf("no table: %q, found %t", value, found)
		}
	}
}

// TestNoOtherValue: with many more texts than entries, from several goroutines, each
// text has its own value or none, and those that come often are found.
func TestNoOtherValue(t *testing.T) {
	table := recent.New[string](3, 100)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			hits := 0
			for i := range 20_000 {
				text := fmt.Sprint("text ", (i*7+g)%200)
				often := i%8 < 4 // four times in a row: whoever works alone finds the fourth
				if often {
					text = fmt.Sprint("often ", i/8%4)
				}
				value, found := look(table, text)
				if value != strings.ToUpper(text) {
					t.Errorf("%q has the value %q", text, value)
				}
				if found && often {
					hits++
				}
			}
			if hits < 2000 {
				t.Errorf("found %d times", hits)
			}
		})
	}
	all.Wait()
}

// TestOwnMemory: an entry does not change with the memory of the text it was made for.
func TestOwnMemory(t *testing.T) {
	table := recent.New[string](0, 10)
	for range 3 {
		_, at, _ := table.Find("text")
		table.Keep(at, "text", func(own string) string { return own[1:] })
	}
	if n := testing.AllocsPerRun(100, func() {
		if value, _, found := table.Find("text"); !found || value != "ext" {
			t.Error(value, found)
		}
		if _, _, found := table.FindBytes([]byte("text")); !found {
			t.Error("not found")
		}
	}); n > 0 {
		t.Errorf("%v allocations to find a text", n)
	}
}
