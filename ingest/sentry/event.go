package sentry

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// parser reads one event's JSON. It writes a value into the draft at once, unless
// it depends on other keys, which may come later; such values wait in the fields
// below. The byte slices are parts of the document.
//
// A value of a wrong type counts as absent. Only broken JSON is an error.
type parser struct {
	dec   lenient.Reader
	keep  *lenient.Keeper
	lists *lists
	draft ingest.Draft

	headers, tags []ingest.Pair // of the draft, in memory that is used again
	joined        []byte

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
	more                      bool      // the context that is read says more than a name and a version
	contexts                  jx.Writer // those that are kept; empty for none
	extra                     []byte    // raw JSON

	crumbs     []breadcrumb // the last ones, as a ring
	crumbsSeen int

	// The exception, thread, stack trace, frame and breadcrumb that is being read.
	link       exception
	threadRank int
	scratch    stacktrace.Trace
	frame      frame
	crumb      breadcrumb
}

// named is a thing with a version: an SDK, a runtime, an operating system.
type named struct{ name, version []byte }

// join appends the name and the version, with sep between them.
func (n named) join(to []byte, sep string) []byte {
	name, version := bytes.TrimSpace(n.name), bytes.TrimSpace(n.version)
	if len(version) == 0 {
		return append(to, name...)
	}
	if len(name) == 0 || bytes.HasPrefix(version, name) { // Go says "go", "go1.26.0"
		return append(to, version...)
	}
	return append(append(append(to, name...), sep...), version...)
}

func (p *parser) join(n named, sep string) string {
	p.joined = n.join(p.joined[:0], sep)
	return p.keep.String(p.joined)
}

// lists has the memory of the lists of drafts.
type lists struct {
	pairs      lenient.Slab[ingest.Pair]
	exceptions lenient.Slab[ingest.Exception]
	bytes      lenient.Slab[byte]
}

var parsers = sync.Pool{New: func() any {
	return &parser{keep: new(lenient.Keeper), scratch: stacktrace.Reused(), stack: stacktrace.Reused(), lists: &lists{
		pairs: lenient.Slab[ingest.Pair]{Size: 128}, exceptions: lenient.Slab[ingest.Exception]{Size: 32}, bytes: lenient.Slab[byte]{Size: 4 << 10},
	}}
}}

// parseEvent reads an event. ok is false for a valid event that is no error: a
// performance transaction. sender is the user's address if the event asks for it.
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

// ParseEvent reads the payload of an envelope's item of type event. The error is
// an *errata.Error that says why the event cannot be taken.
func ParseEvent(document []byte) (ingest.Draft, error) {
	draft, isError, err := parseEvent(document, netip.Addr{})
	if err == nil && !isError {
		err = errata.Errorf(errata.KindInvalidEvent, "the event is a performance transaction and no error")
	}
	return draft, err
}

// eventKeys are keys of Sentry's events that native events do not have.
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

// free forgets the event and keeps the slices that no draft shares.
func (p *parser) free() {
	p.scratch.Clear()
	p.stack.Clear()
	clear(p.exceptions)
	clear(p.crumbs)
	p.contexts.Reset()
	p.dec.Reset(nil)
	clear(p.headers)
	clear(p.tags)
	*p = parser{
		dec: p.dec, keep: p.keep, lists: p.lists, headers: p.headers[:0], tags: p.tags[:0], joined: p.joined, scratch: p.scratch, stack: p.stack, exceptions: p.exceptions[:0], contexts: p.contexts, crumbs: p.crumbs[:0],
	}
	parsers.Put(p)
}

func (p *parser) object(field func(*parser, []byte) error) error {
	return lenient.Object(&p.dec, p, field)
}

func (p *parser) array(element func(*parser) error) error {
	return lenient.Array(&p.dec, p, element)
}

// only reads an object of which one key counts.
func (p *parser) only(name string, read func(*parser) error) error {
	return p.object(func(p *parser, key []byte) error {
		if string(key) != name {
			return p.dec.Skip()
		}
		return read(p)
	})
}

// set reads a text. Without one, to stays as it is.
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

// long is bytes for a message, which may be long.
func (p *parser) long(to *[]byte) error {
	text, err := p.dec.Message()
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
		err := p.readStack()
		p.offerStack(rankEvent)
		return err
	case "threads":
		return p.list(&threadElement)
	case "request", "sentry.interfaces.Http":
		return p.object((*parser).request)
	case "user", "sentry.interfaces.User":
		return p.object((*parser).user)
	case "contexts":
		p.contexts.Reset()
		return p.object((*parser).context)
	case "breadcrumbs", "sentry.interfaces.Breadcrumbs":
		p.crumbs, p.crumbsSeen = p.crumbs[:0], 0
		return p.list(&crumbElement)
	case "extra":
		return p.raw(&p.extra)
	case "sdk":
		return p.object((*parser).sdkField)
	case "tags":
		p.tags = p.tags[:0]
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
		text, err := p.dec.Bytes()
		p.draft.SetTime(string(text))
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

func (p *parser) addFingerprint() error {
	part, err := p.dec.Bytes()
	if len(part) > 0 && len(p.draft.Fingerprint) < ingest.MaxFingerprint {
		p.draft.Fingerprint = append(p.draft.Fingerprint, p.keep.String(part))
	}
	return err
}

func (p *parser) addTag(key, value []byte) {
	if len(p.tags) >= ingest.MaxTags {
		return
	}
	if string(key) == "book" {
		p.draft.Book, _ = errata.ParseBook(string(value))
	}
	p.tags = append(p.tags, ingest.Pair{Key: p.keep.String(key), Value: p.keep.String(value)})
}

// pythonLevels are the levels of Python's logging: 10, 20, …, 50 and above.
var pythonLevels = [...]errata.Level{
	errata.LevelUnknown, errata.LevelDebug, errata.LevelInfo, errata.LevelWarning, errata.LevelError, errata.LevelFatal,
}

// levelOf reads a level: a word, or a number of Python's logging.
func levelOf(text []byte) errata.Level {
	if len(text) == 0 || len(text) > 16 {
		return errata.LevelUnknown
	}
	if text[0] >= '0' && text[0] <= '9' {
		return pythonLevels[min(lenient.ParseInt(text)/10, 5)]
	}
	level, _ := errata.ParseLevel(string(text))
	return level
}

// eventID is an event id without dashes, nil for any other text. The id of zeros
// is none: SDKs that have no id send it, and their events must not count as one.
func eventID(text []byte) []byte {
	id, ok := errata.ShortUUID(text)
	if !ok || len(bytes.Trim(id, "0")) == 0 {
		return nil
	}
	return id
}
