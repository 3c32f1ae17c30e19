package otlp

import (
	"crypto/sha256"
	encoding64 "encoding/binary"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// exceptionEvent is the name of span events that are errors.
const exceptionEvent = "exception"

// record is a log record or a span event.
type record struct {
	raw            []byte // the whole record
	time, observed int64  // nanoseconds since 1970
	severity       int64
	severityText   string
	body           value
	attrs          []attr

	traceID, spanID []byte
	binaryIDs       bool // else they are hex digits
}

// span holds the fields of a span that count for its events.
type span struct {
	name            string
	attrs           []attr
	traceID, spanID []byte
	binaryIDs       bool
}

// finder finds the errors of one request.
type finder struct {
	signal  *signal
	body    *door.Body
	project uint64
	pairs   *pairs // nil: both of a pair count

	drafts  []ingest.Draft
	weights []int               // of each draft, in bytes
	weight  int                 // of all drafts
	visited int                 // parts, scopes and records so far
	seen    map[[16]byte]uint64 // how often each record came in this request, by its hash

	resource resource
	scope    string

	attrs, spanAttrs []attr // reused for each record
}

// read walks the request and keeps a draft of each error.
func (f *finder) read(request []byte, enc encoding) error {
	form, read := "protobuf", f.readProto
	if enc == jsonText {
		form, read = "JSON", f.readJSON
	}
	err := read(request)
	if _, told := errors.AsType[*errata.Error](err); err == nil || told {
		return err
	}
	return errata.Errorf(errata.KindInvalidBody, "the body is not a valid %s request of %s", form, f.signal.path).Because(err)
}

// visit counts a part, a scope or a record.
func (f *finder) visit() error {
	if f.visited++; f.visited > maxRecords {
		return errata.Errorf(errata.KindBodyTooLarge, "the request holds more than %d records; send smaller batches", maxRecords)
	}
	if f.visited%atATime == 0 {
		runtime.Gosched()
	}
	return nil
}

// atATime is after how many of them other requests may have the processor.
const atATime = 32

const (
	// draftSize is the memory of a draft without its texts, pairSize that of a tag.
	draftSize = int(unsafe.Sizeof(ingest.Draft{})) + 256
	pairSize  = int(unsafe.Sizeof(ingest.Pair{}))
)

// add keeps a draft. Its id is made of the bytes of the resource and of the
// record (parts), and of its number among equal records. shared is the size in
// bytes of the texts that it shares with others: the log stores them with each.
func (f *finder) add(d ingest.Draft, shared int, twin *twin, parts ...[]byte) error {
	if len(f.drafts) == maxErrors {
		return tooManyErrors()
	}
	size := draftSize + pairSize*len(d.Context.Tags) + f.resource.size + shared
	h := sha256.New()
	h.Write(f.resource.digest[:])
	for _, part := range parts {
		size += len(part)
		h.Write(encoding64.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	if f.weight += size; f.weight > maxDrafts {
		return errata.Errorf(errata.KindBodyTooLarge, "the errors of the request take more than %d MiB with what they share; send smaller batches", maxDrafts>>20)
	}
	if err := f.body.Charge(size); err != nil {
		return err
	}
	var sum [sha256.Size]byte
	content := [16]byte(h.Sum(sum[:0])[:16])
	if f.seen == nil {
		f.seen = map[[16]byte]uint64{}
	}
	if ordinal := f.seen[content]; ordinal > 0 {
		h.Write(encoding64.AppendUvarint(nil, ordinal))
		h.Sum(sum[:0])
	}
	f.seen[content]++
	id := [16]byte(sum[:16])
	if f.pairs != nil && twin != nil {
		id = f.pairs.id(f.project, twin, id)
	}
	d.ClientID = "o-" + hex.EncodeToString(id[:])
	f.drafts, f.weights = append(f.drafts, d), append(f.weights, size)
	return nil
}

func tooManyErrors() error {
	return errata.Errorf(errata.KindBodyTooLarge, "the request holds more than %d errors; send smaller batches", maxErrors)
}

// log keeps a log record if it is an error.
func (f *finder) log(rec *record) error {
	if !rec.isError() {
		return nil
	}
	if rec.body.tooDeep() || anyTooDeep(rec.attrs) {
		return errTooDeep
	}
	m := mapping{ownPlace: true}
	m.begin(&f.resource, f.scope, "otlp-log")
	m.attributes(rec.attrs)
	d := m.finish(rec.body)
	d.Level = rec.level()
	d.Time = timeOf(rec.time, rec.observed)
	d.Context.TraceID, d.Context.SpanID = idText(rec.traceID, rec.binaryIDs), idText(rec.spanID, rec.binaryIDs)
	var t *twin
	if rec.hasException() {
		t = twinOf(&d, fromLog)
	}
	return f.add(d, 0, t, rec.raw)
}

// spanDraft is the beginning of the drafts of a span's exceptions. An attribute
// of the span counts where the event does not have it.
type spanDraft struct {
	*span
	mapping mapping
	size    int // of the texts that its exceptions share
}

func (f *finder) spanOf(s *span) (*spanDraft, error) {
	if anyTooDeep(s.attrs) {
		return nil, errTooDeep
	}
	whole := spanDraft{span: s}
	whole.mapping.begin(&f.resource, f.scope, "otlp-span")
	whole.mapping.attributes(s.attrs)
	c := &whole.mapping.draft.Context
	c.Transaction = keep(s.name)
	c.TraceID, c.SpanID = idText(s.traceID, s.binaryIDs), idText(s.spanID, s.binaryIDs)
	whole.size = whole.mapping.size()
	return &whole, nil
}

// spanEvent keeps an exception that a span recorded.
func (f *finder) spanEvent(s *spanDraft, rec *record) error {
	if anyTooDeep(rec.attrs) {
		return errTooDeep
	}
	m := s.mapping.fork()
	m.attributes(rec.attrs)
	d := m.finish(value{})
	d.Level = errata.LevelError
	d.Time = timeOf(rec.time, 0)
	return f.add(d, s.size, twinOf(&d, fromSpan), s.traceID, s.spanID, rec.raw)
}

// isError says whether the record has an exception or the severity of an error.
func (r *record) isError() bool {
	if r.severity >= SeverityError {
		return true
	}
	if level, _ := errata.ParseLevel(r.severityText); r.severity == 0 && level >= errata.LevelError {
		return true
	}
	return r.hasException()
}

// hasException says whether the record has an exception.
func (r *record) hasException() bool {
	return slices.ContainsFunc(r.attrs, func(a attr) bool { return a.key == classKey || a.key == MessageKey })
}

func (r *record) level() errata.Level {
	if n := r.severity; n > 0 {
		return severityLevels[min((n-1)/4, 5)]
	}
	if level, known := errata.ParseLevel(r.severityText); known {
		return level
	}
	return errata.LevelError
}

func timeOf(nanos, observed int64) time.Time {
	if nanos <= 0 {
		nanos = observed
	}
	if nanos <= 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// maxID bounds a trace or span id as text.
const maxID = 64

func idText(id []byte, binary bool) string {
	if len(id) > maxID {
		return ""
	}
	if binary {
		return hex.EncodeToString(id)
	}
	return strings.ToLower(string(id)) // SDKs write hex digits in both cases
}
