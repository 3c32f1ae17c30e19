package otlp

import (
	"crypto/sha256"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/body"
	"github.com/errata-log/errata/ingest/body/stacktrace"
)

// resource is what all records of a resource share.
type resource struct {
	digest  [sha256.Size]byte
	context ingest.Context
}

// begin starts a resource's part of the request.
func (f *finder) begin(raw []byte, attrs []attr) {
	f.resource = resource{digest: sha256.Sum256(raw)}
	c := &f.resource.context
	var sdk, sdkVersion, runtime, runtimeVersion, os, osVersion string
	for _, a := range attrs {
		switch text := a.value.String(); a.key {
		case "service.version":
			c.Release = text
		case "deployment.environment.name", "deployment.environment":
			c.Environment = text
		case "host.name":
			c.ServerName = text
		case "telemetry.sdk.name":
			sdk = text
		case "telemetry.sdk.version":
			sdkVersion = text
		case "telemetry.sdk.language":
			c.Platform = text
		case "process.runtime.name":
			runtime = text
		case "process.runtime.version":
			runtimeVersion = text
		case "os.name", "os.type":
			os = text
		case "os.version":
			osVersion = text
		case "service.name", "service.namespace":
			c.Tags = append(c.Tags, ingest.Pair{Key: keep(a.key), Value: text})
		}
	}
	c.SDK = join(sdk, "/", sdkVersion)
	c.Runtime = join(runtime, " ", runtimeVersion)
	c.OS = join(os, " ", osVersion)
}

func join(name, sep, version string) string {
	if name == "" || version == "" {
		return name
	}
	return name + sep + version
}

// mapping collects the attributes of one error. Later ones win.
type mapping struct {
	draft ingest.Draft

	trace               string
	path, query, target string
	url                 string
	book, dbSystem      string
}

func (m *mapping) begin(r *resource, scope, source string) {
	m.draft.Context = r.context
	m.draft.Context.Source = source
	m.draft.Context.Logger = scope
	// The resource's tags are shared: appending must not write into them.
	tags := m.draft.Context.Tags
	m.draft.Context.Tags = tags[:len(tags):len(tags)]
}

func (m *mapping) attributes(attrs []attr) {
	for i := range attrs {
		m.attribute(attrs[i].key, attrs[i].value)
	}
}

// attribute puts one attribute where it belongs; plain ones that have no place
// are tags.
func (m *mapping) attribute(key string, v value) {
	d := &m.draft
	switch key {
	case "exception.type":
		d.Class = v.String()
	case "exception.message":
		d.Message = v.String()
	case "exception.stacktrace":
		m.trace = v.stack()
	case "exception.escaped":
		handled := v.String() == "false"
		d.Context.Handled = &handled
	case "code.file.path", "code.filepath":
		d.File = v.String()
	case "code.line.number", "code.lineno":
		d.Line = v.int()
	case "http.request.method", "http.method":
		d.Method = strings.ToUpper(v.String())
	case "client.address", "http.client_ip":
		d.IP = body.ParseAddr(v.String())
	case "user.id", "enduser.id":
		d.UserID = v.String()
	default:
		m.request(key, v)
	}
}

// request reads the attributes that make up the request's address, and those
// that name the book.
func (m *mapping) request(key string, v value) {
	switch key {
	case "url.path":
		m.path = v.String()
	case "url.query":
		m.query = v.String()
	case "http.target":
		m.target = v.String()
	case "url.full", "http.url":
		m.url = v.String()
	case "error.book":
		m.book = v.String()
	case "db.system.name", "db.system":
		m.dbSystem = v.String()
		m.tag(key, v)
	default:
		m.tag(key, v)
	}
}

// headerPrefix begins the attributes that are request headers. They go where
// headers go, so that only the allowed ones are kept.
const headerPrefix = "http.request.header."

func (m *mapping) tag(key string, v value) {
	c := &m.draft.Context
	if name, ok := strings.CutPrefix(key, headerPrefix); ok {
		if len(c.Headers) < ingest.MaxTags {
			c.Headers = append(c.Headers, ingest.Pair{Key: keep(name), Value: v.String()})
		}
		return
	}
	if v.scalar() && len(c.Tags) < ingest.MaxTags {
		c.Tags = append(c.Tags, ingest.Pair{Key: keep(key), Value: v.String()})
	}
}

// finish decides what depends on several attributes. said is the body of a log
// record.
func (m *mapping) finish(said value) ingest.Draft {
	d := &m.draft
	if d.Message == "" {
		d.Message = said.String()
	}
	d.URI = m.uri()
	if d.Book, _ = errata.ParseBook(m.book); d.Book == errata.BookUnknown && m.dbSystem != "" {
		d.Book = errata.BookDatabase
	}
	if d.Class == "" && m.trace == "" {
		return *d
	}
	frames, at := stacktrace.Parse(m.trace)
	if d.File == "" && at.Known {
		d.File, d.Line, d.PlacedBy = at.File, at.Line, at.By()
	}
	d.Context.Exceptions = []ingest.Exception{{Class: d.Class, Message: d.Message, Frames: frames}}
	return *d
}

func (m *mapping) uri() string {
	switch {
	case m.path != "" && m.query != "":
		return m.path + "?" + strings.TrimPrefix(m.query, "?")
	case m.path != "":
		return m.path
	case m.target != "":
		return m.target
	default:
		return m.url
	}
}
