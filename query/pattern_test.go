package query

import "testing"

func TestLikePattern(t *testing.T) {
	for _, c := range []struct{ pattern, whole, part string }{
		{"", "", ""},
		{"***", "", ""},
		{"abc", "%abc%", "%abc%"},
		{"*abc*", "%abc%", "%abc%"},
		{"a*bcd*ef", "%a%bcd%ef%", "%bcd%"},
		{"a**b", "%a%b%", "%a%"},
		{"100%", `%100\%%`, `%100\%%`},
		{"a_b", `%a\_b%`, `%a\_b%`},
		{`C:\x`, `%C:\\x%`, `%C:\\x%`},
		{`\*`, `%\\%`, `%\\%`},
		{"ΟΔΟΣ", "%ΟΔΟ_%", "%ΟΔΟ_%"},
	} {
		if whole, part := likePattern(c.pattern); whole != c.whole || part != c.part {
			t.Errorf("%q: got %q and %q, want %q and %q", c.pattern, whole, part, c.whole, c.part)
		}
	}
}

func TestSignatureRange(t *testing.T) {
	for _, c := range []struct {
		text, first, last string
		ok                bool
	}{
		{"a", "a0000000000000000000000000000000", "afffffffffffffffffffffffffffffff", true},
		{" DEAD ", "dead0000000000000000000000000000", "deadffffffffffffffffffffffffffff", true},
		{"00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff", true},
		{"00112233445566778899aabbccddeeff0", "", "", false},
		{"de ad", "", "", false},
		{"xyz", "", "", false},
		{" ", "", "", false},
	} {
		if first, last, ok := signatureRange(c.text); first != c.first || last != c.last || ok != c.ok {
			t.Errorf("%q: got %s to %s, %t; want %s to %s, %t", c.text, first, last, ok, c.first, c.last, c.ok)
		}
	}
}
