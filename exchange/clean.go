package exchange

import (
	"strings"
	"time"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/scrub"
)

// cleaner makes entries of drafts. An entry has no secret, no literal of a query,
// and no text over its limit.
type cleaner struct {
	log   Log
	rules *ingest.Rules
}

// believedDays bounds the age of an entry: applications report an exchange when it is over,
// or after an outage.
const believedDays = 30

func (c cleaner) clean(d *draft, project uint64, received time.Time) entry {
	e := entry{
		Time: ingest.Time(d.time, received, believedDays).UnixMilli(), Received: received.UnixMilli(), Project: project,
		Duration: d.duration, Request: c.rules.Text(d.request, maxName, false), UserID: ingest.UserID(c.rules.Scrubber.Text(d.userID)),
	}
	if d.ip.IsValid() {
		e.IP = d.ip.String()
	}
	if c.log == Modules {
		e.Error = c.rules.Text(d.err, maxError, true)
		e.Module, e.Action = c.rules.Text(d.module, maxName, false), c.rules.Text(d.action, maxName, false)
		e.Direction, e.Target = directionOf(d.direction), c.targetOf(d.target)
		e.Status = c.rules.Text(d.status, maxStatus, false)
		e.Sent, e.Answered = c.contentOf(d.sent), c.contentOf(d.answered)
		return e
	}
	e.Query, e.Error = c.queryOf(d.query, d.err)
	e.Connection = c.rules.Text(d.connection, maxName, false)
	e.File, e.Line = c.rules.File(d.file), ingest.Line(d.line)
	if d.rows > 0 && d.rows <= maxCount {
		e.Rows = uint64(d.rows)
	}
	return e
}

// maxCount is more rows than any query returns. A number with more digits may be
// a secret, such as the number of a card.
const maxCount = 1e12

func directionOf(text string) string {
	switch text := strings.ToLower(strings.TrimSpace(text)); text {
	case "in", "out":
		return text
	}
	return ""
}

// slack is how many bytes beyond its limit are read of a text. The text is
// scrubbed with them and then cut, so that no half of a secret stays.
const slack = 512

// queryOf is a query and the database's error, both without the literals of the
// query: databases repeat the values of a query in their errors.
func (c cleaner) queryOf(query, failure string) (cleanQuery, cleanFailure string) {
	read := lenient.Cut(query, maxQuery+slack)
	clean, literals, all := withoutValues(read)
	whole := len(read) == len(query)
	if !whole {
		clean += mark
	}
	if all = all && whole && len(literals) <= maxLiterals; failure != "" && !all {
		failure = errorNotKept
	}
	return c.rules.Text(clean, maxQuery, true), c.rules.Text(withoutLiterals(failure, literals), maxError, true)
}

// errorNotKept replaces an error when not all literals of its query are known, or
// there are too many.
const errorNotKept = "[not kept: it may repeat values of the query]"

// mark is the end of a text that was cut.
const mark = "…"

const (
	// maxLiterals bounds the literals that are searched in an error.
	maxLiterals = 200
	// telling is how many bytes identify a literal: databases quote only the
	// beginning of a long query.
	telling = 12
)

// withoutLiterals replaces the literals of a query in the database's error. A
// literal of one character is no secret, and stands in every word.
func withoutLiterals(text string, literals []string) string {
	if text == errorNotKept {
		return text
	}
	text = lenient.Cut(text, maxError+slack)
	for _, literal := range literals {
		if len(literal) > 1 {
			text = strings.ReplaceAll(text, literal, "?")
		}
		if len(literal) > telling {
			if at := strings.Index(text, literal[:telling]); at >= 0 {
				text = text[:at] + "?" + mark
			}
		}
	}
	return text
}

// notReadable replaces JSON that is too deep or too wide for the scrubber.
const notReadable = "[not kept: nested too deeply or too many values]"

// contentOf is a request or a response without its secrets. JSON is scrubbed as
// JSON, because its keys say best which values are secret.
func (c cleaner) contentOf(sent content) string {
	text := strings.TrimSpace(sent.text)
	if !sent.isJSON && (text == "" || text[0] != '{' && text[0] != '[') {
		return c.rules.Text(sent.text, maxContent, true)
	}
	// The scrubber takes objects, so the value is put into one. The key must not
	// be the name of a secret or of a pair.
	const before, after = `{"j":`, `}`
	clean, err := c.rules.Scrubber.JSON([]byte(before + text + after))
	switch {
	case err == nil:
		return c.rules.Text(strings.TrimSuffix(strings.TrimPrefix(string(clean), before), after), maxContent, true)
	case sent.isJSON:
		return notReadable
	default:
		return c.rules.Text(sent.text, maxContent, true)
	}
}

// targetOf is the system that was called: scheme and host of a URL, or a host
// alone, with a path as [ingest.URI] keeps it. Any other text is filtered.
func (c cleaner) targetOf(target string) string {
	target = strings.TrimSpace(c.rules.Text(target, 2*ingest.MaxURI, false))
	if target == "" || target[0] == '/' {
		return c.rules.URI(target)
	}
	scheme, rest, isURL := strings.Cut(target, "://")
	if !isURL {
		scheme, rest = "", target
	} else {
		scheme += "://"
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host := rest[strings.LastIndexByte(rest[:end], '@')+1 : end]
	if !isHost(host) || isURL && !isName(strings.TrimSuffix(scheme, "://"), "+-.") {
		return scrub.Filtered
	}
	// The scrubber gets a path, so that it filters a host that is a token.
	host = strings.TrimPrefix(c.rules.Scrubber.URI("/"+host), "/")
	if end == len(rest) {
		return scheme + host
	}
	return c.rules.Text(scheme+host+c.rules.URI(rest[end:]), ingest.MaxURI, false)
}

// isHost says whether text is a host, with or without a port.
func isHost(text string) bool {
	host := text
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 && !strings.HasSuffix(text, "]") {
		host = text[:colon]
		if strings.Trim(text[colon+1:], "0123456789") != "" {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return isName(strings.TrimSuffix(inner, "]"), ":.")
	}
	return isName(host, "-._")
}

// isName says whether text has only letters, digits and the bytes of more.
func isName(text, more string) bool {
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && !isDigit(c) && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
