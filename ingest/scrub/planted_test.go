package scrub_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest/scrub"
)

// plant is a text with secrets in it. Each run makes them from a form, with a fixed
// seed, so that the repository has no credential.
type plant struct {
	group   string // the name under which it is counted
	text    string
	secrets []string
}

// survives is a piece of a secret that is still in the text, "" if there is none: the
// whole secret, eight bytes in a row, or a word of a secret with blanks.
func (p plant) survives(clean string) string {
	const longest = 8
	for _, secret := range p.secrets {
		for word := range strings.FieldsSeq(secret) {
			for len(word) >= 4 {
				if piece := word[:min(len(word), longest)]; strings.Contains(clean, piece) && !strings.Contains(scrub.Filtered, piece) {
					return piece
				}
				if word = word[1:]; len(word) < longest {
					break
				}
			}
		}
	}
	return ""
}

// drawer makes random secrets. It has a seed, so that a failure can be repeated.
type drawer struct{ *rand.Rand }

func newDrawer(seed uint64) drawer { return drawer{rand.New(rand.NewPCG(seed, seed))} }

// letters are the sets of letters of secrets, by their name in a form.
var letters = map[byte]string{
	'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	'b': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	'+': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	'U': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'l': "abcdefghijklmnopqrstuvwxyz0123456789",
	'w': "abcdefghijklmnopqrstuvwxyz",
	'h': "0123456789abcdef",
	'H': "0123456789ABCDEF",
	'd': "0123456789",
	'2': "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ",
}

// form fills a form such as "ghp_{a36}": a set of letters and their number. Of a mixed
// set the first four have a digit, a small letter and a capital, as nearly all real
// secrets do.
func (d drawer) form(form string) string {
	var out strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '{' || i+2 >= len(form) || letters[form[i+1]] == "" || form[i+2] < '0' || form[i+2] > '9' {
			out.WriteByte(form[i])
			continue
		}
		end := i + strings.IndexByte(form[i:], '}')
		set, n := letters[form[i+1]], 0
		for _, c := range form[i+2 : end] {
			n = n*10 + int(c-'0')
		}
		for k := range n {
			switch {
			case len(set) > 60 && k == 1:
				out.WriteByte(letters['d'][d.IntN(10)])
			case len(set) > 60 && k == 2:
				out.WriteByte(letters['w'][d.IntN(26)])
			case len(set) > 60 && k <= 3:
				out.WriteByte(letters['U'][d.IntN(26)])
			default:
				out.WriteByte(set[d.IntN(len(set))])
			}
		}
		i = end
	}
	return out.String()
}

// pick is a random element of the list.
func pick[T any](d drawer, list []T) T { return list[d.IntN(len(list))] }

// value is a password as people and programs make it: random, random with signs, or a
// word with a number.
func (d drawer) value() string {
	switch d.IntN(4) {
	case 0:
		return d.form("{a20}")
	case 1:
		return d.form("{w3}{d2}!{a6}")
	case 2:
		return d.form("{h32}")
	default:
		return d.form("{w7}{d3}")
	}
}

// words is a password of plain words.
func (d drawer) words(n int) string {
	list := strings.Fields("walrus hammock gravel pudding lantern velvet cobalt orchid tundra magnet saddle thimble quartz barley anchor ribbon")
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = pick(d, list)
	}
	return strings.Join(drawn, " ")
}

// sweep counts the plants whose secrets the rules remove, and logs each miss.
func sweep(t *testing.T, plants []plant, show bool) (gone, all int) {
	t.Helper()
	missed := map[string]int{}
	for _, p := range plants {
		clean := scrub.Text(p.text)
		if piece := p.survives(clean); piece != "" {
			missed[p.group]++
			if show {
				t.Logf("%s: %q\n    left %q\n    of %q", p.group, clean, piece, p.text)
			}
			continue
		}
		gone++
	}
	t.Logf("%d of %d planted secrets are gone (%.1f %%), missed: %v", gone, len(plants), 100*float64(gone)/float64(len(plants)), missed)
	return gone, len(plants)
}

// TestTextOfPlantedPrefixes cuts each planted text at every byte, as a limit may do:
// the rules stay idempotent and do not read beyond the text.
func TestTextOfPlantedPrefixes(t *testing.T) {
	d := newDrawer(11)
	for _, p := range slices.Concat(plantedTokens(d), plantedKeys(d), plantedBlocks(d)) {
		for n := range len(p.text) + 1 {
			checkText(t, p.text[:n])
		}
	}
}

// leastGone is the share of planted secrets that must be removed.
const leastGone = 0.95

// TestPlantedSecretsAreGone fails when the rules miss too many secrets.
func TestPlantedSecretsAreGone(t *testing.T) {
	const least = 300
	d := newDrawer(11)
	plants := plantedTokens(d)
	plants = append(plants, plantedKeys(d)...)
	plants = append(plants, plantedBlocks(d)...)
	gone, all := sweep(t, plants, true)
	if all < least {
		t.Errorf("%d planted secrets, want at least %d", all, least)
	}
	if float64(gone) < leastGone*float64(all) {
		t.Errorf("%d of %d are gone, want at least %.0f %%", gone, all, 100*leastGone)
	}
}
