package otlp

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
	"github.com/errata-log/errata/origin"
)

// resource is the part of the context that all records of a resource share.
type resource struct {
	digest  [sha256.Size]byte
	context ingest.Context
	size    int // of the texts in the context
}

// begin starts a resource's part of the request.
func (f *finder) begin(raw []byte, attrs []attr) {
	f.resource = resource{digest: sha256.Sum256(raw)}
	c := &f.resource.context
	var sdk, sdkVersion, runtime, runtimeVersion, os, osVersion string
	var rest []attr
	for _, a := range attrs {
		switch text := a.value.String(); a.key {
		case "service.version":
			c.Release = text
		case "deployment.environment.name":
			c.Environment = text
		case "deployment.environment":
			older(&c.Environment, a.value)
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
		default:
			rest = append(rest, a)
		}
	}
	if raw, whole := objectOf(rest); raw != nil {
		c.Contexts = &ingest.Shared{Raw: slices.Concat([]byte(`{"resource":`), raw, []byte("}"))}
		if !whole {
			c.Lose("contexts")
		}
	}
	c.SDK = join(sdk, "/", sdkVersion)
	c.Runtime = join(runtime, " ", runtimeVersion)
	c.OS = join(os, " ", osVersion)
	f.resource.size = contextSize(c)
}

// contextSize is the size of the texts in a context that many errors can share.
func contextSize(c *ingest.Context) (n int) {
	for _, text := range []string{c.Release, c.Environment, c.ServerName, c.Platform, c.SDK, c.Runtime, c.OS, c.Transaction} {
		n += len(text)
	}
	if c.Contexts != nil {
		n += len(c.Contexts.Raw)
	}
	for _, pairs := range [][]ingest.Pair{c.Tags, c.Headers} {
		for i := range pairs {
			n += pairSize + len(pairs[i].Key) + len(pairs[i].Value)
		}
	}
	return n
}

// older fills an empty field from the old name of an attribute. Some SDKs send
// both names.
func older(field *string, v value) {
	if *field == "" {
		*field = v.String()
	}
}

func join(name, sep, version string) string {
	if name == "" || version == "" {
		return name
	}
	return name + sep + version
}

// mapping collects the attributes of one error. The last one of a name counts.
type mapping struct {
	draft ingest.Draft
	// ownPlace says that code.* is the place of the error. On a span it is the
	// place where the span began, and only the stack has the place of the error.
	ownPlace bool

	Attributes
	target         string
	book, dbSystem string
	extra          []attr // attributes without a field that are no tags, or too long for one
}

func (m *mapping) begin(r *resource, scope, source string) {
	m.draft.Context = r.context
	m.draft.Context.Source = source
	m.draft.Context.Logger = scope
	m.seal()
}

// seal protects the shared tags and headers: appending copies them.
func (m *mapping) seal() {
	c := &m.draft.Context
	c.Tags, c.Headers, c.Lost, m.extra = slices.Clip(c.Tags), slices.Clip(c.Headers), slices.Clip(c.Lost), slices.Clip(m.extra)
}

// fork is a copy of m that shares its texts.
func (m *mapping) fork() mapping {
	m.seal()
	return *m
}

// size is the length of the texts that forks share, in bytes.
func (m *mapping) size() int {
	extra := 0
	for i := range m.extra {
		extra += len(m.extra[i].key) + len(m.extra[i].value.text) + len(m.extra[i].value.bytes)
	}
	return extra + contextSize(&m.draft.Context) + len(m.Class) + len(m.Message) + len(m.File) + len(m.Method) + len(m.User) +
		len(m.Trace) + len(m.Path) + len(m.Query) + len(m.target) + len(m.URL)
}

func (m *mapping) attributes(attrs []attr) {
	for i := range attrs {
		m.attribute(attrs[i].key, attrs[i].value)
	}
}

// attribute puts an attribute into its field. A plain one without a field is a
// tag, any other one is in the extra object, and a long text in both.
func (m *mapping) attribute(key string, v value) {
	switch to := m.Field(key); {
	case to == &m.Trace:
		m.Trace = v.stack()
	case to == &m.Message:
		m.Message = v.message()
	case to != nil && (to != &m.File || m.ownPlace):
		*to = v.String()
	case !m.ownPlace || !m.place(key, v):
		m.other(key, v)
	}
}

// place reads the other attributes with the place of the code, and says whether
// this was one.
func (m *mapping) place(key string, v value) bool {
	d := &m.draft
	switch key {
	case "code.filepath":
		older(&m.File, v)
	case LineKey:
		d.Line = v.int()
	case "code.lineno":
		d.Line = cmp.Or(d.Line, v.int())
	default:
		return false
	}
	return true
}

// other reads old names of attributes, and attributes that only OTLP has.
func (m *mapping) other(key string, v value) {
	switch key {
	case "exception.escaped":
		m.draft.Context.Handled = handledOf(v.String())
	case "http.method":
		older(&m.Method, v)
	case "http.client_ip":
		if !origin.ParseAddr(m.Client).IsValid() {
			m.Client = v.String()
		}
	case "enduser.id":
		older(&m.User, v)
	case "http.target":
		m.target = v.String()
	case "http.url":
		older(&m.URL, v)
	case "error.book":
		m.book = v.String()
	case "db.system.name":
		m.dbSystem = v.String()
		m.tag(key, v)
	case "db.system":
		older(&m.dbSystem, v)
		m.tag(key, v)
	default:
		m.tag(key, v)
	}
}

// handledOf reads exception.escaped, which Python sends as a text.
func handledOf(escaped string) *bool {
	switch strings.ToLower(escaped) {
	case "false":
		return new(true)
	case "true":
		return new(false)
	default:
		return nil
	}
}

// headerPrefix begins the attributes that are request headers. They become
// headers of the draft, of which ingest keeps only the allowed ones.
const headerPrefix = "http.request.header."

func (m *mapping) tag(key string, v value) {
	c := &m.draft.Context
	if name, ok := strings.CutPrefix(key, headerPrefix); ok {
		if len(c.Headers) < ingest.MaxTags {
			c.Headers = append(c.Headers, ingest.Pair{Key: keep(name), Value: v.String()})
		}
		return
	}
	isTag := v.scalar() && len(c.Tags) < ingest.MaxTags
	if isTag {
		c.Tags = append(c.Tags, ingest.Pair{Key: keep(key), Value: v.String()})
	}
	if !isTag || len(v.text) > ingest.MaxTag {
		m.extra = append(m.extra, attr{key, v})
	}
}

// finish fills the fields that depend on several attributes. said is the body of
// a log record.
func (m *mapping) finish(said value) ingest.Draft {
	d := &m.draft
	d.Class, d.Message, d.File, d.UserID = m.Class, m.Message, m.File, m.User
	d.Method, d.IP = strings.ToUpper(m.Method), origin.ParseAddr(m.Client)
	if d.Message == "" {
		d.Message = said.message()
	} else {
		d.Context.Log = said.message()
	}
	d.URI = cmp.Or(m.PathQuery(), m.target, m.URL)
	if d.Book, _ = errata.ParseBook(m.book); d.Book == errata.BookUnknown && m.dbSystem != "" {
		d.Book = errata.BookDatabase
	}
	var whole bool
	if d.Context.Extra, whole = objectOf(m.extra); !whole {
		d.Context.Lose("extra")
	}
	if d.Class == "" && m.Trace == "" {
		return *d
	}
	frames, at := stacktrace.Parse(m.Trace)
	if d.File == "" && at.Known {
		d.File, d.Line, d.PlacedBy = at.File, at.Line, at.By()
	}
	d.Context.Exceptions = stacktrace.Chain(m.Trace, ingest.Exception{
		Class: d.Class, Message: d.Message, Module: stacktrace.Module(m.Trace, d.Class), Frames: frames,
	})
	return *d
}
