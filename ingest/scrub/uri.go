package scrub

import "strings"

// URI is the path and query of a request without its secrets:
//
//	https://user:pass@shop.example/checkout?token=secret&page=2#top
//	→ /checkout?token=[Filtered]&page=2
//
// Scheme, host, user and fragment are dropped. In the query the keys stay, in
// their order; only the values of page, limit, sort, order, direction, lang,
// tab and view stay with them, an allow-list, because nobody can list all
// secrets. In the path, long hex, tokens and what [Text] finds are replaced.
// A URI without a path of its own (data:, mailto:) gives "".
func URI(raw string) string { return standard.URI(raw) }

// URI is [URI] with the additions of x.
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
	var out strings.Builder
	out.Grow(len(clean) + len(query) + len(Filtered))
	out.WriteString(clean)
	out.WriteByte('?')
	x.writeQuery(&out, query)
	return out.String()
}

// withoutHost cuts scheme, user and host from the front of a URI.
func withoutHost(uri string) string {
	if scheme := schemeEnd(uri); scheme > 0 {
		if !strings.HasPrefix(uri[scheme:], "//") {
			return "" // opaque: nothing in it is a path
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
	return "/" + strings.TrimLeft(host[slash:], "/")
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

// cleanPath replaces what does not belong into a path, segment by segment.
func (x *Scrubber) cleanPath(path string) string {
	dirty := false
	for rest, more := path, true; more && !dirty; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		dirty = x.cleanSegment(segment) != segment
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

// longHex is the length from which hex digits in a path are a credential, a
// session or the token of a mail link. Shorter ones (24 digits of MongoDB) are ids.
const longHex = 32

// longToken is the length from which a mix of digits, capitals and small
// letters in a path is a token.
const longToken = 32

// cleanSegment is one segment of a path, or one key or short value of a query.
// Its parameters (;jsessionid=x) lose their values.
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
	for more := true; more; {
		var parameter string
		parameter, parameters, more = strings.Cut(parameters, ";")
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

// isToken says whether a segment is drawn: long hex, or long and mixed.
func isToken(segment string) bool {
	if len(segment) < min(longHex, longToken) {
		return false
	}
	hex, digits, upper, lowers, other := 0, 0, 0, 0, 0
	for i := range len(segment) {
		c := segment[i]
		switch {
		case isDigit(c):
			digits++
		case isUpper(c):
			upper++
		case isAlpha(c):
			lowers++
		case c != '-' && c != '_' && c != '.' && c != '=' && c != '~':
			other++
		}
		if isHex(c) {
			hex++
		}
	}
	return hex == len(segment) || other == 0 && digits > 0 && upper > 0 && lowers > 0
}

// writeQuery writes the pairs of a query. Pairs are parted by & or ;.
func (x *Scrubber) writeQuery(out *strings.Builder, query string) {
	for {
		k := strings.IndexAny(query, "&;")
		pair := query
		if k >= 0 {
			pair = query[:k]
		}
		key, value, assigned := strings.Cut(pair, "=")
		out.WriteString(x.keyOrFiltered(key))
		if assigned {
			out.WriteByte('=')
			out.WriteString(x.queryValue(key, value))
		}
		if k < 0 {
			return
		}
		out.WriteByte(query[k])
		query = query[k+1:]
	}
}

// maxKept bounds a value of the allow-list; what is longer is no page number.
const maxKept = 40

// queryValue is the value under a key of the query.
func (x *Scrubber) queryValue(key, value string) string {
	if value == "" {
		return ""
	}
	if !x.isKept(key) || len(value) > maxKept || isToken(value) || strings.IndexFunc(value, notKept) >= 0 || x.Text(value) != value {
		return Filtered
	}
	return value
}

// notKept says whether a rune does not belong into a value of the allow-list.
func notKept(r rune) bool {
	return r >= 0x80 || !isAlnum(byte(r)) && strings.IndexByte("-_.,+*|:", byte(r)) < 0
}

// keyOrFiltered is a key unless it is a secret itself ("?eyJhbGci…").
func (x *Scrubber) keyOrFiltered(key string) string {
	if isToken(key) || x.Text(key) != key {
		return Filtered
	}
	return key
}
