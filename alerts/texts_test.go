package alerts

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

// A rule finds in a record what strings.Contains finds in one of its texts, and nothing that
// begins in one and ends in another. The texts of the record before do not matter.
func TestTexts(t *testing.T) {
	text := rapid.StringMatching(`[aAbÄİſß \n\x00]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var said texts
		for i, other := range rapid.SliceOfN(text, 0, 3).Draw(t, "others") {
			said.lookFor(new(newSearch(other)), i)
		}
		said.set(&errata.Record{Message: text.Draw(t, "before")})
		said.have(new(newSearch(text.Draw(t, "another"))))
		r := &errata.Record{Message: text.Draw(t, "message"), Class: text.Draw(t, "class"), File: text.Draw(t, "file")}
		search := text.Draw(t, "search")
		want := false
		for _, text := range []string{r.Message, r.Class, r.File} {
			want = want || strings.Contains(strings.ToLower(text), strings.ToLower(search))
		}
		looked := newSearch(search)
		said.lookFor(&looked, rapid.IntRange(0, 200).Draw(t, "index"))
		said.set(r)
		if got := said.have(&looked); got != want {
			t.Fatalf("%q in %q: %v, want %v", search, said.all, got, want)
		}
	})
}
