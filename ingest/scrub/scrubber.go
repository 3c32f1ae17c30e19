package scrub

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Additions are what an operator adds to the default rules. Only QueryAllow makes
// them weaker: it lists what is kept.
type Additions struct {
	// Keys are further secret keys. A key is secret that has one of them anywhere,
	// or is one that begins with "=". Case, dashes and underscores do not count.
	Keys []string
	// Patterns are RE2 expressions. What they match is replaced.
	Patterns []string
	// QueryAllow are the names in a query whose values are kept.
	QueryAllow []string
}

// DefaultQueryAllow are the names in a query whose values are kept by default:
// they say which page is shown, and how.
func DefaultQueryAllow() []string {
	return []string{"page", "limit", "sort", "order", "direction", "lang", "tab", "view"}
}

// The limits of additions. Each pattern is run over each text, so there must be
// few. A short key would be found in ordinary words.
const (
	maxOwn        = 100
	minOwnKey     = 3
	maxPatternLen = 500
)

// Scrubber is the default rules with additions. It does not change and is safe for
// concurrent use. A nil Scrubber has no additions.
type Scrubber struct {
	anywhere, whole [][]byte // folded keys
	patterns        []*regexp.Regexp
	query           []string
}

// standard has no additions.
var standard = &Scrubber{query: DefaultQueryAllow()}

// New checks the additions and makes a Scrubber. The error begins with the name of
// the list that is wrong, as in "keys: ".
func New(add Additions) (*Scrubber, error) {
	x := &Scrubber{query: slices.Clone(add.QueryAllow)}
	for _, list := range []struct {
		name  string
		texts []string
		add   func(string) error
	}{
		{"keys", add.Keys, x.addKey},
		{"patterns", add.Patterns, x.addPattern},
		{"query-allow", add.QueryAllow, x.checkAllowed},
	} {
		if len(list.texts) > maxOwn {
			return nil, fmt.Errorf("%s: more than %d of a kind", list.name, maxOwn)
		}
		for _, text := range list.texts {
			if err := list.add(text); err != nil {
				return nil, fmt.Errorf("%s: %w", list.name, err)
			}
		}
	}
	return x, nil
}

func (x *Scrubber) checkAllowed(name string) error {
	if name == "" || strings.ContainsAny(name, "=&;#? ") {
		return fmt.Errorf("%q is not the name of a value in a query", name)
	}
	if x.SecretKey(name) {
		return fmt.Errorf("%q is a secret key, its values cannot be kept", name)
	}
	return nil
}

func (x *Scrubber) addKey(key string) error {
	name, isWhole := strings.CutPrefix(key, "=")
	folded := fold(nil, name).text
	if len(folded) < minOwnKey || len(folded) > maxKey {
		return fmt.Errorf("key %q: want %d to %d letters and digits", key, minOwnKey, maxKey)
	}
	if isWhole {
		x.whole = append(x.whole, folded)
	} else {
		x.anywhere = append(x.anywhere, folded)
	}
	return nil
}

func (x *Scrubber) addPattern(pattern string) error {
	if len(pattern) > maxPatternLen {
		return fmt.Errorf("pattern %.40q… has more than %d bytes", pattern, maxPatternLen)
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q is not RE2: %w", pattern, err)
	}
	if compiled.MatchString("") {
		return fmt.Errorf("pattern %q matches the empty text, and with it every place in every message", pattern)
	}
	x.patterns = append(x.patterns, compiled)
	return nil
}

// isOwn says whether the additions make a key secret.
func (x *Scrubber) isOwn(k *foldedKey) bool {
	return x != nil &&
		(slices.ContainsFunc(x.anywhere, func(key []byte) bool { return bytes.Contains(k.text, key) }) ||
			slices.ContainsFunc(x.whole, func(key []byte) bool { return bytes.Equal(k.text, key) }))
}

func (x *Scrubber) isOwnKey(key string) bool {
	var buf [96]byte
	k := fold(buf[:0], key)
	return x.isOwn(&k)
}

// matches replaces what the operator's patterns match. They are not shown
// [Filtered]: a pattern like \w+ would replace it again and again.
func (x *Scrubber) matches(s string) string {
	if x == nil {
		return s
	}
	for _, pattern := range x.patterns {
		pieces := strings.Split(s, Filtered)
		for i, piece := range pieces {
			pieces[i] = pattern.ReplaceAllLiteralString(piece, Filtered)
		}
		s = strings.Join(pieces, Filtered)
	}
	return s
}

// isKept says whether the values of the name in a query are kept.
func (x *Scrubber) isKept(name string) bool {
	if x == nil {
		x = standard
	}
	return slices.Contains(x.query, name)
}
