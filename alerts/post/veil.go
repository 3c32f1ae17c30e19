package post

import (
	"cmp"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/errata-log/errata/alerts/render"
)

const (
	// maxLine is the longest text of an outcome in bytes.
	maxLine = 300
	// minPart is the shortest part of a URL that is hidden on its own: shorter ones are
	// words such as hooks and api.
	minPart = 8
	hidden  = "***"
)

// veil hides the secrets of one request. A receiver may answer with what it was sent, in
// another encoding.
type veil struct {
	replace *strings.Replacer
	// longest is the length of the longest secret.
	longest int
}

func newVeil(r render.Request) veil {
	secrets := slices.Clone(r.Secrets)
	if u, err := url.Parse(r.URL); err == nil {
		secrets = append(secrets, partsOf(u)...)
	}
	var forms []string
	for _, secret := range secrets {
		slashes := strings.ReplaceAll(secret, "/", `\/`)
		forms = append(forms, secret, slashes, url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret))
	}
	forms = slices.DeleteFunc(forms, func(form string) bool { return len(form) < 2 })
	// The replacer takes the first form that fits, so that the longest one has to be first.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	v := veil{}
	var pairs []string
	for _, form := range slices.Compact(forms) {
		v.longest = max(v.longest, len(form))
		pairs = append(pairs, form, hidden)
	}
	v.replace = strings.NewReplacer(pairs...)
	return v
}

// partsOf is what stands in a URL behind the host: as a whole and in parts.
func partsOf(u *url.URL) []string {
	all := []string{u.RequestURI(), u.Path, u.RawQuery, strings.Trim(u.Path, "/")}
	parts := strings.Split(u.EscapedPath(), "/")
	parts = append(parts, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	for _, part := range parts {
		if len(part) >= minPart {
			all = append(all, part)
		}
	}
	return all
}

// answer is the beginning of a body as one line.
func (v veil) answer(body []byte) string {
	text := string(body)
	if len(body) == maxResponse {
		// The end may be the half of a secret.
		text = text[:len(text)-min(len(text), v.longest)]
	}
	return v.line(text)
}

// line is a text as one printable line without secrets, of at most maxLine bytes.
func (v veil) line(text string) string {
	text = v.replace.Replace(text)
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine-len("…")], "") + "…"
	}
	return text
}
