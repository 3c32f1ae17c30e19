package exchange

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
	"github.com/errata-log/errata/origin"
)

// draft is an entry as it was sent, not scrubbed and not bounded.
type draft struct {
	time     time.Time // zero for none
	duration float64
	err      string
	request  string
	userID   string
	ip       netip.Addr

	module, direction, action, target, status string
	sent, answered                            content

	query, connection, file string
	rows, line              int64
}

// content is a request or a response: text, or JSON as it was written.
type content struct {
	text   string
	isJSON bool
}

// parser reads one entry.
type parser struct {
	log     Log
	dec     lenient.Reader
	draft   draft
	refused *errata.Error
}

// parse reads one entry of the log. A field of a wrong type is left out, but the
// needed field must be right. Errors: invalid_body for broken JSON, invalid_entry.
func parse(log Log, document part) (draft, *errata.Error) {
	if document == nil {
		return draft{}, door.Malformed("the entry is not valid JSON")
	}
	p := parser{log: log}
	p.dec.Reset(document)
	if p.dec.Next() != jx.Object {
		return draft{}, errata.Errorf(errata.KindInvalidEntry, "the entry is not a JSON object")
	}
	if err := lenient.Object(&p.dec, &p, (*parser).field); err != nil {
		return draft{}, door.Malformed("the entry is not valid JSON").Because(err)
	}
	if p.refused != nil {
		return draft{}, p.refused
	}
	if strings.TrimSpace(p.draft.module) == "" && strings.TrimSpace(p.draft.query) == "" {
		return draft{}, errata.Errorf(errata.KindInvalidEntry, "%s is needed", log.needed())
	}
	return p.draft, nil
}

// field reads one key. It ignores the keys of the other log.
func (p *parser) field(key []byte) error {
	if known, err := p.shared(key); known {
		return err
	}
	if p.log == Modules {
		return p.moduleField(key)
	}
	return p.queryField(key)
}

func (p *parser) shared(key []byte) (known bool, err error) {
	d := &p.draft
	var text string
	switch string(key) {
	case "time":
		err = p.text(&text)
		d.time, _ = lenient.Time(text)
	case "duration_ms":
		err = p.text(&text)
		d.duration = duration(text)
	case "error":
		err = p.text(&d.err)
	case "request_id":
		err = p.text(&d.request)
	case "user_id":
		err = p.text(&d.userID)
	case "ip":
		err = p.text(&text)
		d.ip = origin.ParseAddr(text)
	default:
		return false, nil
	}
	return true, err
}

func (p *parser) moduleField(key []byte) error {
	d := &p.draft
	switch string(key) {
	case "module":
		return p.required(&d.module)
	case "direction":
		return p.text(&d.direction)
	case "action", "operation":
		return p.text(&d.action)
	case "target":
		return p.text(&d.target)
	case "status":
		return p.text(&d.status)
	case "request":
		return p.content(&d.sent)
	case "response":
		return p.content(&d.answered)
	default:
		return p.dec.Skip()
	}
}

func (p *parser) queryField(key []byte) (err error) {
	d := &p.draft
	switch string(key) {
	case "query":
		return p.required(&d.query)
	case "connection", "database":
		return p.text(&d.connection)
	case "file":
		return p.text(&d.file)
	case "rows":
		d.rows, err = p.dec.Int()
		return err
	case "line":
		d.line, err = p.dec.Int()
		return err
	default:
		return p.dec.Skip()
	}
}

// text reads a string, a number or a boolean. Any other value is absent.
func (p *parser) text(to *string) error {
	if p.dec.Next() == jx.String {
		text, err := p.dec.Str() // the whole text: it is cut when it is scrubbed
		*to = text
		return err
	}
	return p.dec.Set(to)
}

// required reads the text of the needed field.
func (p *parser) required(to *string) error {
	if kind := p.dec.Next(); kind != jx.String && kind != jx.Null {
		p.refused = errata.Errorf(errata.KindInvalidEntry, "%s must be a string", p.log.needed())
		return p.dec.Skip()
	}
	return p.text(to)
}

// content reads a request or a response: a string as its text, others as JSON.
func (p *parser) content(to *content) error {
	switch p.dec.Next() {
	case jx.Null:
		return p.dec.Skip()
	case jx.String:
		text, err := p.dec.Str()
		*to = content{text: text, isJSON: false}
		return err
	default:
		raw, err := p.dec.Raw()
		*to = content{text: strings.TrimSpace(string(raw)), isJSON: true}
		return err
	}
}

// maxDuration is more than any request takes, in milliseconds: 30 years.
const maxDuration = 1e12

// duration reads a number of milliseconds; 0 for any other text.
func duration(text string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > maxDuration {
		return 0
	}
	return f
}
