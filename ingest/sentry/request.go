package sentry

import (
	"bytes"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/origin"
)

// maxQuery bounds the pairs of a query that came as an array or an object.
const maxQuery = 200

func (p *parser) request(key []byte) error {
	switch string(key) {
	case "url":
		return p.bytes(&p.url)
	case "method":
		method, err := p.dec.Bytes()
		p.draft.Method = strings.ToUpper(p.keep.String(method))
		return err
	case "query_string":
		return p.readQuery()
	case "headers":
		p.headers = p.headers[:0]
		return p.pairs((*parser).addHeader)
	case "env":
		return p.only("REMOTE_ADDR", func(p *parser) error { return p.bytes(&p.remoteAddr) })
	default: // cookies and bodies are never kept
		return p.dec.Skip()
	}
}

// readQuery reads the three forms of a query: a text, an object, an array of
// pairs. It turns the other two into a text.
func (p *parser) readQuery() error {
	p.query, p.queryPairs = nil, 0
	switch p.dec.Next() {
	case jx.Array, jx.Object:
		return p.pairs((*parser).addQuery)
	default:
		return p.bytes(&p.query)
	}
}

func (p *parser) addQuery(key, value []byte) {
	if p.queryPairs++; p.queryPairs > maxQuery {
		return
	}
	if len(p.query) > 0 {
		p.query = append(p.query, '&')
	}
	p.query = append(p.query, url.QueryEscape(string(key))...)
	p.query = append(p.query, '=')
	p.query = append(p.query, url.QueryEscape(string(value))...)
}

func (p *parser) addHeader(key, value []byte) {
	if len(p.headers) < ingest.MaxTags {
		p.headers = append(p.headers, ingest.Pair{Key: p.keep.String(key), Value: p.keep.String(value)})
	}
}

func (p *parser) user(key []byte) error {
	switch string(key) {
	case "id":
		return p.userID()
	case "ip_address":
		return p.bytes(&p.userIP)
	default:
		return p.dec.Skip()
	}
}

// userID reads a number or a text. Some JSON writers have only floats, so 42.0
// is the user 42.
func (p *parser) userID() error {
	number := p.dec.Next() == jx.Number
	text, err := p.dec.Bytes()
	if number && bytes.ContainsAny(text, ".eE") {
		if n := lenient.ParseInt(text); n != 0 {
			p.draft.UserID = strconv.FormatInt(n, 10)
			return err
		}
	}
	if len(text) > 0 {
		p.draft.UserID = p.keep.String(text)
	}
	return err
}

// uri is the request's URL with the query, without the fragment.
func (p *parser) uri() string {
	u, _, _ := strings.Cut(p.keep.String(p.url), "#")
	if u == "" || strings.Contains(u, "?") {
		return u
	}
	query := strings.TrimPrefix(string(p.query), "?")
	if query == "" {
		return u
	}
	return u + "?" + query
}

// ip is the address of the user: the one in the event; the sender's if the SDK
// asks for it or runs in the user's browser; else the one that the application's
// server saw.
func (p *parser) ip(sender netip.Addr) netip.Addr {
	if addr := origin.ParseAddr(p.keep.String(p.userIP)); addr.IsValid() {
		return addr
	}
	if string(p.inferIP) != "never" && (string(p.userIP) == "{{auto}}" ||
		string(p.inferIP) == "auto" || p.draft.Context.Platform == "javascript") {
		return sender
	}
	return origin.ParseAddr(p.keep.String(p.remoteAddr))
}

// pairs reads an object, or an array of arrays of two, and calls add for each
// pair. The value may be an array, as PHP sends headers; then its first text
// counts.
func (p *parser) pairs(add func(p *parser, key, value []byte)) error {
	switch p.dec.Next() {
	case jx.Object:
		return p.object(func(p *parser, key []byte) error {
			value, err := p.scalarOrFirst()
			if value != nil {
				add(p, lenient.Cut(key, lenient.MaxText), value)
			}
			return err
		})
	case jx.Array:
		return p.array(func(p *parser) error { return p.readPair(add) })
	default:
		return p.dec.Skip()
	}
}

func (p *parser) readPair(add func(p *parser, key, value []byte)) error {
	var pair [2][]byte
	n := 0
	err := p.array(func(p *parser) (err error) {
		if n == len(pair) {
			return p.dec.Skip()
		}
		pair[n], err = p.scalarOrFirst()
		n++
		return err
	})
	if err == nil && pair[0] != nil && pair[1] != nil {
		add(p, pair[0], pair[1])
	}
	return err
}

// scalarOrFirst reads a scalar, or the first scalar of an array; nil for anything
// else.
func (p *parser) scalarOrFirst() ([]byte, error) {
	if p.dec.Next() != jx.Array {
		return p.dec.Bytes()
	}
	var first []byte
	err := p.array(func(p *parser) error {
		text, err := p.dec.Bytes()
		if first == nil {
			first = text
		}
		return err
	})
	return first, err
}
