package sentry

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/klauspost/compress/zlib"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
)

// maxKept bounds the errors of one request together, in bytes as sent. Their
// drafts stay in memory until all are on the log. SDKs send one event, or some
// hundred short logs, at a time.
const maxKept = 8 << 20

// lineSize is the read buffer of an envelope; a header line must fit.
const lineSize = 2 * ingest.MaxEnvelopeHeader

// intake collects the errors and reports of one request.
type intake struct {
	body   *door.Body
	in     *bufio.Reader
	buf    *door.Buffer // the payload being read
	sender netip.Addr
	newID  func() string

	head    lenient.Reader // of a header line or a report
	eventID string         // of the envelope's header
	dsn     []byte
	sentAt  time.Time

	drafts  []ingest.Draft
	kept    int    // bytes of the errors as sent
	firstID string // id of the first event
	logs    map[[16]byte]uint64
	// byLogger has the ids of the logs that an integration made of calls to a logger.
	byLogger map[string]bool
	lost     []loss
}

var intakes = sync.Pool{New: func() any { return &intake{in: bufio.NewReaderSize(nil, lineSize)} }}

func newIntake(b *door.Body, sender netip.Addr, newID func() string) *intake {
	in := intakes.Get().(*intake) // the pool holds nothing else
	*in = intake{body: b, in: in.in, buf: door.GetBuffer(), sender: sender, newID: newID, head: in.head, dsn: in.dsn[:0], drafts: in.drafts}
	in.in.Reset(b)
	return in
}

// A free intake keeps the memory of its drafts when there were at most keptDrafts. Most requests
// have one event.
const keptDrafts = 16

// free must be the last use of the intake, of its drafts and of what it returned. What drafts
// point to is their own.
func (in *intake) free() {
	in.in.Reset(nil)
	in.head.Reset(nil)
	in.buf.Free()
	clear(in.drafts)
	if cap(in.drafts) > keptDrafts {
		in.drafts = nil
	}
	*in = intake{in: in.in, head: in.head, dsn: in.dsn, drafts: in.drafts[:0]}
	intakes.Put(in)
}

// store reads the body of the older endpoint: one event as JSON, as base64 of
// JSON, or as base64 of zlib of JSON. It does not trust the content type.
func (in *intake) store() error {
	const maxEncoded = ingest.MaxEvent/3*4 + 1024
	if err := in.body.ReadAll(in.buf, maxEncoded); err != nil {
		return err
	}
	document := bytes.TrimSpace(in.buf.B)
	if len(document) == 0 {
		return malformed("the body is empty", nil)
	}
	if document[0] != '{' {
		var err error
		if document, err = in.decodeStore(document); err != nil {
			return err
		}
	}
	if len(document) > ingest.MaxEvent {
		return door.PartTooLarge("the event", ingest.MaxEvent)
	}
	return in.addEvent(document)
}

// decodeStore decodes base64 and, if the result is not JSON, zlib.
func (in *intake) decodeStore(text []byte) ([]byte, error) {
	text = bytes.TrimRight(text, "=")
	if err := in.body.Charge(len(text) + ingest.MaxEvent); err != nil {
		return nil, err
	}
	raw := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, err := base64.RawStdEncoding.Decode(raw, text) // ignores line breaks
	if err != nil {
		return nil, malformed("the body is neither a JSON object nor base64", err)
	}
	raw = raw[:n]
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' {
		return trimmed, nil
	}
	z, err := zlib.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, malformed("the base64 body holds neither a JSON object nor zlib", err)
	}
	document, err := io.ReadAll(io.LimitReader(z, ingest.MaxEvent+1))
	if err != nil {
		return nil, malformed("the base64 body is not complete, valid zlib", err)
	}
	return document, nil
}

// addEvent reads one event and keeps its draft.
func (in *intake) addEvent(document []byte) error {
	draft, ok, err := parseEvent(document, in.sender)
	if err != nil || !ok {
		return err
	}
	if err := in.hold(len(document)); err != nil {
		return err
	}
	if in.eventID != "" {
		// The envelope's id is for its first event only. With it, a second
		// event would count as the same.
		draft.ClientID, in.eventID = in.eventID, ""
	}
	if draft.ClientID == "" {
		draft.ClientID = in.newID()
	}
	draft.SentAt = in.sentAt
	in.firstID = cmp.Or(in.firstID, draft.ClientID)
	return in.add(draft)
}

// hold charges an error of n bytes, which stays until the request is answered.
func (in *intake) hold(n int) error {
	if in.kept += n; in.kept > maxKept {
		return errata.Errorf(errata.KindBodyTooLarge, "the errors in one request are larger than %d bytes together; send fewer in one request", maxKept)
	}
	return in.body.Charge(n)
}

func (in *intake) add(draft ingest.Draft) error {
	if len(in.drafts) == ingest.MaxBatch {
		return door.PartTooLarge("the list of errors in one request", ingest.MaxBatch)
	}
	in.drafts = append(in.drafts, draft)
	return nil
}

// headerField reads a key of the envelope's header. All keys are optional, and a
// wrong value is no reason to refuse the envelope.
func (in *intake) headerField(d *lenient.Reader, key []byte) (err error) {
	var text []byte
	switch string(key) {
	case "event_id":
		text, err = d.Bytes()
		in.eventID = string(eventID(text))
	case "dsn":
		text, err = d.Bytes()
		in.dsn = append(in.dsn[:0], text...)
	case "sent_at":
		text, err = d.Bytes()
		in.sentAt, _ = lenient.Time(string(text))
	default:
		err = d.Skip()
	}
	return err
}

// dsnKey is the public key in a DSN, "" when there is none.
func dsnKey(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.Username()
}
