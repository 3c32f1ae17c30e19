package sentry

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/body/lenient"
	"github.com/errata-log/errata/ingest/body/stacktrace"
)

// parser reads one event's JSON. What goes into the draft as it stands is
// written there at once; what depends on other keys, which may come later,
// waits in the fields below. The byte slices are parts of the document.
//
// Every field is lenient: a value of a wrong type is absent. Only broken JSON
// is an error.
type parser struct {
	dec   lenient.Reader
	keep  *lenient.Keeper
	draft ingest.Draft

	eventID     []byte
	transaction bool // the event is a performance transaction, not an error
	culprit     []byte

	exceptions []exception
	stack      stacktrace.Trace // the event's own stack trace, or that of a thread
	stackRank  int

	message, logentry logentry

	url, query []byte
	queryPairs int
	userIP     []byte
	inferIP    []byte
	remoteAddr []byte

	sdk, runtime, browser, os named

	// What is being read at the moment.
	link       exception
	threadRank int
	scratch    stacktrace.Trace
	frame      frame
	pair       [2][]byte
	pairLen    int
}

// named is a thing with a version: an SDK, a runtime, an operating system.
type named struct{ name, version []byte }

func (n named) join(sep string) string {
	name, version := bytes.TrimSpace(n.name), bytes.TrimSpace(n.version)
	if len(version) == 0 {
		return string(name)
	}
	if len(name) == 0 || bytes.HasPrefix(version, name) { // Go says "go", "go1.26.0"
		return string(version)
	}
	return string(name) + sep + string(version)
}

var parsers = sync.Pool{New: func() any { return &parser{keep: new(lenient.Keeper)} }}

// parseEvent reads an event. ok is false when it is valid but no error: a
// performance transaction. sender stands in where the event asks for it.
func parseEvent(document []byte, sender netip.Addr) (draft ingest.Draft, ok bool, err error) {
	p := parsers.Get().(*parser)
	defer p.free()
	p.dec.Reset(document)
	if p.dec.Next() != jx.Object {
		return ingest.Draft{}, false, malformed("the event is not a JSON object", nil)
	}
	if err := p.object((*parser).event); err != nil {
		return ingest.Draft{}, false, malformed("the event is not valid JSON", err)
	}
	if !p.dec.AtEnd() {
		return ingest.Draft{}, false, malformed("there is more after the event", nil)
	}
	if p.transaction {
		return ingest.Draft{}, false, nil
	}
	p.finish(sender)
	return p.draft, true, nil
}

// ParseEvent reads one event as an envelope's item of type event holds it. The
// error is an *errata.Error and says why the event cannot be taken.
func ParseEvent(document []byte) (ingest.Draft, error) {
	draft, isError, err := parseEvent(document, netip.Addr{})
	if err == nil && !isError {
		err = errata.Errorf(errata.KindInvalidEvent, "the event is a performance transaction and no error")
	}
	return draft, err
}

// eventKeys are what events of Sentry's SDKs have and native ones do not.
var eventKeys = [...]string{"event_id", "exception", "logentry", "stacktrace", "threads", "sdk", "platform", "contexts", "breadcrumbs"}

// LooksLike says whether a JSON object is an event of one of Sentry's SDKs.
func LooksLike(document []byte) bool {
	var keys map[string]json.RawMessage
	if json.Unmarshal(document, &keys) != nil {
		return false
	}
	return slices.ContainsFunc(eventKeys[:], func(key string) bool {
		_, has := keys[key]
		return has
	})
}

// free forgets the event but keeps the room of the slices that never leave.
func (p *parser) free() {
	p.scratch.Clear()
	p.stack.Clear()
	clear(p.exceptions)
	*p = parser{keep: p.keep, scratch: p.scratch, stack: p.stack, exceptions: p.exceptions[:0]}
	parsers.Put(p)
}

func (p *parser) object(field func(*parser, []byte) error) error {
	return lenient.Members(&p.dec, p, field)
}

func (p *parser) array(element func(*parser) error) error {
	return lenient.Elements(&p.dec, p, element)
}

// set reads a text into to, and leaves to alone where there is none.
func (p *parser) set(to *string) error {
	text, err := p.dec.Bytes()
	if len(text) > 0 {
		*to = p.keep.String(text)
	}
	return err
}

func (p *parser) bytes(to *[]byte) error {
	text, err := p.dec.Bytes()
	*to = text
	return err
}

// event reads one key of the event.
func (p *parser) event(key []byte) error {
	switch string(key) {
	case "exception", "sentry.interfaces.Exception":
		p.exceptions = p.exceptions[:0]
		return p.list(&exceptionElement)
	case "message", "sentry.interfaces.Message":
		return p.readLogentry(&p.message)
	case "logentry":
		return p.readLogentry(&p.logentry)
	case "stacktrace", "sentry.interfaces.Stacktrace":
		p.scratch.Clear()
		err := p.object((*parser).stacktrace)
		p.offerStack(rankEvent)
		return err
	case "threads":
		return p.list(&threadElement)
	case "request", "sentry.interfaces.Http":
		return p.object((*parser).request)
	case "user", "sentry.interfaces.User":
		return p.object((*parser).user)
	case "contexts":
		return p.object((*parser).contexts)
	case "sdk":
		return p.object((*parser).sdkField)
	case "tags":
		p.draft.Context.Tags = nil
		return p.pairs((*parser).addTag)
	case "fingerprint":
		p.draft.Fingerprint = nil
		if p.dec.Next() == jx.String {
			return p.addFingerprint()
		}
		return p.array((*parser).addFingerprint)
	default:
		return p.eventScalar(key)
	}
}

func (p *parser) eventScalar(key []byte) error {
	c := &p.draft.Context
	switch string(key) {
	case "event_id":
		return p.bytes(&p.eventID)
	case "type":
		kind, err := p.dec.Bytes()
		p.transaction = string(kind) == "transaction"
		return err
	case "level":
		text, err := p.dec.Bytes()
		p.draft.Level = levelOf(text)
		return err
	case "timestamp":
		t, err := p.time()
		p.draft.Time = t
		return err
	case "platform":
		return p.set(&c.Platform)
	case "logger":
		return p.set(&c.Logger)
	case "transaction":
		return p.set(&c.Transaction)
	case "culprit":
		return p.bytes(&p.culprit)
	case "server_name":
		return p.set(&c.ServerName)
	case "release":
		return p.set(&c.Release)
	case "environment":
		return p.set(&c.Environment)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) time() (time.Time, error) {
	text, err := p.dec.Bytes()
	if err != nil || len(text) == 0 {
		return time.Time{}, err
	}
	t, _ := lenient.Time(string(text))
	return t, nil
}

func (p *parser) addFingerprint() error {
	part, err := p.dec.Bytes()
	if len(part) > 0 && len(p.draft.Fingerprint) < ingest.MaxFingerprint {
		p.draft.Fingerprint = append(p.draft.Fingerprint, p.keep.String(part))
	}
	return err
}

func (p *parser) addTag(key, value []byte) {
	if len(p.draft.Context.Tags) >= ingest.MaxTags {
		return
	}
	if string(key) == "book" {
		p.draft.Book, _ = errata.ParseBook(string(value))
	}
	p.draft.Context.Tags = append(p.draft.Context.Tags, ingest.Pair{Key: p.keep.String(key), Value: p.keep.String(value)})
}

// levelOf reads a level: a word, or the numbers of Python's logging.
func levelOf(text []byte) errata.Level {
	if len(text) == 0 || len(text) > 16 {
		return errata.LevelUnknown
	}
	if text[0] >= '0' && text[0] <= '9' {
		switch n := lenient.ParseInt(text); {
		case n >= 50:
			return errata.LevelFatal
		case n >= 40:
			return errata.LevelError
		case n >= 30:
			return errata.LevelWarning
		case n >= 20:
			return errata.LevelInfo
		case n >= 10:
			return errata.LevelDebug
		}
		return errata.LevelUnknown
	}
	level, _ := errata.ParseLevel(string(text))
	return level
}

// eventID normalises an event id to 32 lower-case hex digits, from that form
// or from a UUID's. "" is returned for anything else, and for the id of zeros:
// SDKs send it when they have none, and it must not fold their events into one.
func eventID(text []byte) string {
	if len(text) == 36 {
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return ""
		}
		text = bytes.ReplaceAll(text, []byte("-"), nil)
	}
	if len(text) != 32 {
		return ""
	}
	zeros := true
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			zeros = zeros && c == '0'
		default:
			return ""
		}
	}
	if zeros {
		return ""
	}
	return strings.ToLower(string(text))
}
