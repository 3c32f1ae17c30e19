package render

import (
	"strings"
	"testing"
)

func TestTexts(t *testing.T) {
	cut5 := func(text string) string { return cut(text, 5) }
	line5 := func(text string) string { return line(text, 5) }
	for _, c := range []struct {
		name     string
		of       func(string) string
		in, want string
	}{
		{"cut", cut5, "abcde", "abcde"},
		{"cut", cut5, "abcdef", "abcd…"},
		{"cut", cut5, "日本語日本語", "日本語日…"},
		{"cut", cut5, "abc def", "abc…"},
		{"ending", func(s string) string { return ending(s, 5) }, "src/a.js", "…a.js"},
		{"ending", func(s string) string { return ending(s, 8) }, "src/a.js", "src/a.js"},
		{"line", line5, "  a\r\n\tb \u2028c ", "a b c"},
		{"line", line5, "a\u202Eb\u200Bc\x00d", "abcd"},
		{"line", line5, "\xff", "\uFFFD"},
		{"line", line5, strings.Repeat("x", 1<<20), "xxxx…"},
		{"line", line5, "日本語日本語", "日本語日…"},
		{"lines", func(s string) string { return lines(s, 9) }, "a\r\nb\rc\u2029d", "a\nb\nc\nd"},
		{"lines", func(s string) string { return lines(s, 9) }, "Z\u0351\u0352\u0353\u0354\u0355\u0356x", "Z\u0351\u0352\u0353\u0354x"},
		{"plain", plain, "a.b @c #d x://y \\\\z ... 1.", "a.\u200Cb @\u200Cc #\u200Cd x:\u200C//y \\\u200C\\z ... 1."},
		{"bare", bare, "<b>New</b> App\\Error: it's 1!", "b New b App Error it s 1"},
		{"slug", slug, "-shop--a_b.c-", "shop-a-b-c"},
		{"code", code, "a`b", "`aˋb`"},
		{"link", link, "https://e.example/a b(c)?q=<x>|*_`&r=ü#f", "https://e.example/a%20b%28c%29?q=%3Cx%3E%7C%2A_%60&r=%C3%BC#f"},
		{"link", link, "javascript:alert(1)", ""},
		{"link", link, "//e.example/", ""},
		{"link", link, "https:///x", ""},
	} {
		if got := c.of(c.in); got != c.want {
			t.Errorf("%s(%.40q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}
