package scrub

import "strings"

// URI gives the path and query of a request without its secrets:
//
//	https://user:pass@shop.example/checkout?token=secret&page=2#top
//	→ /checkout?token=[Filtered]&page=2
//
// Scheme, host, user and fragment are dropped. The keys of the query stay, in their
// order. Only values on an allow-list stay, because nobody can list all secrets; see
// [DefaultQueryAllow]. In the path, long hex, tokens and what [Scrubber.Text] finds
// are replaced. A URI without a path (data:, mailto:) gives "".
func (x *Scrubber) URI(raw string) string {
	for range maxRounds {
		clean := x.cleanURI(raw)
		if clean == raw {
			break
		}
		raw = clean
	}
	return raw
}

func (x *Scrubber) cleanURI(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	path, query, hasQuery := strings.Cut(raw, "?")
	path = withoutHost(path)
	clean := x.cleanPath(path)
	if !hasQuery {
		return clean
	}
	var room [256]byte
	out := append(append(room[:0], clean...), '?')
	if out = x.appendQuery(out, query); string(out) == raw {
		return raw
	}
	return string(out)
}

// withoutHost cuts scheme, user and host from the front of a URI.
func withoutHost(uri string) string {
	if scheme := schemeEnd(uri); scheme > 0 {
		if !strings.HasPrefix(uri[scheme:], "//") {
			return "" // it has no path
		}
		uri = uri[scheme:]
	}
	if !strings.HasPrefix(uri, "//") {
		return uri
	}
	host := strings.TrimLeft(uri, "/")
	slash := strings.IndexByte(host, '/')
	if slash < 0 {
		return "/"
	}
	path := strings.TrimLeft(host[slash:], "/")
	return host[len(host)-len(path)-1:] // with one slash
}

// schemeEnd is the end of "scheme:" at the front of a URI, 0 if there is none.
func schemeEnd(uri string) int {
	for i := range len(uri) {
		switch c := uri[i]; {
		case c == ':':
			return i + 1
		case !isAlnum(c) && strings.IndexByte("+-.@%_", c) < 0:
			return 0
		}
	}
	return 0
}

// cleanPath replaces the secrets in a path, segment by segment.
func (x *Scrubber) cleanPath(path string) string {
	dirty := false
	for segment := range strings.SplitSeq(path, "/") {
		dirty = dirty || x.cleanSegment(segment) != segment
	}
	if dirty {
		segments := strings.Split(path, "/")
		for i, segment := range segments {
			segments[i] = x.cleanSegment(segment)
		}
		path = strings.Join(segments, "/")
	}
	return x.Text(path)
}

// longToken is the length from which hex digits, or a mix of digits, capitals and
// small letters, in a path are a token: a credential, a session, part of a link in a
// mail. Shorter hex (24 digits of MongoDB) is an id.
const longToken = 32

// cleanSegment is a segment of a path without its secrets. Its parameters
// (;jsessionid=x) lose their values.
func (x *Scrubber) cleanSegment(segment string) string {
	name, parameters, has := strings.Cut(segment, ";")
	if isToken(name) {
		name = Filtered
	}
	if !has {
		return name
	}
	var out strings.Builder
	out.WriteString(name)
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, value, assigned := strings.Cut(parameter, "=")
		out.WriteByte(';')
		out.WriteString(x.keyOrFiltered(key))
		if assigned {
			out.WriteByte('=')
			if value != "" {
				out.WriteString(Filtered)
			}
		}
	}
	return out.String()
}

// isToken says whether a segment is random: long hex, or long and mixed.
func isToken(segment string) bool {
	return len(segment) >= longToken &&
		(consistsOf(segment, hexadecimal) || isMixed(segment) && run(segment, 0, "-_.=~") == len(segment))
}

// appendQuery appends the pairs of a query without their secrets. & and ; separate
// pairs.
func (x *Scrubber) appendQuery(out []byte, query string) []byte {
	for {
		k := strings.IndexAny(query, "&;")
		pair := query
		if k >= 0 {
			pair = query[:k]
		}
		key, value, assigned := strings.Cut(pair, "=")
		out = append(out, x.keyOrFiltered(key)...)
		if assigned {
			out = append(out, '=')
			out = append(out, x.queryValue(key, value)...)
		}
		if k < 0 {
			return out
		}
		out = append(out, query[k])
		query = query[k+1:]
	}
}

// maxKept bounds the length of a value that is kept: a longer one is no page number.
const maxKept = 40

// queryValue is the value under a key of the query, as it may be kept.
func (x *Scrubber) queryValue(key, value string) string {
	if value == "" {
		return ""
	}
	if !x.isKept(key) || len(value) > maxKept || isToken(value) || strings.IndexFunc(value, notKept) >= 0 || x.Text(value) != value {
		return Filtered
	}
	return value
}

// notKept says whether a rune may not stand in a value that is kept.
func notKept(r rune) bool {
	return r >= 0x80 || !isAlnum(byte(r)) && strings.IndexByte("-_.,+*|:", byte(r)) < 0
}

// keyOrFiltered is the key, or [Filtered] if it is a secret itself ("?eyJhbGci…").
func (x *Scrubber) keyOrFiltered(key string) string {
	if isToken(key) || x.Text(key) != key {
		return Filtered
	}
	return key
}
