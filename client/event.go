package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// The levels that the client uses. The service also knows notice, critical and the
// usual aliases.
const (
	LevelDebug   = "debug"
	LevelInfo    = "info"
	LevelWarning = "warning"
	LevelError   = "error"
	LevelFatal   = "fatal"
)

// Event is one caught error as it is sent. BeforeSend may change all fields but
// the id. The field names in JSON are those of POST /api/v1/events.
type Event struct {
	// ID is 32 random hex digits. An event that is sent again counts once by it.
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	// Type is the book, "system" or "database"; "" lets the service decide.
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty"`

	Message string `json:"message,omitempty"`
	// Template is the message without its changing parts, which groups better.
	Template string `json:"template,omitempty"`
	Class    string `json:"exception_class,omitempty"`
	// File is relative to its module.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	RequestURI    string `json:"request_uri,omitempty"`
	RequestMethod string `json:"request_method,omitempty"`
	UserID        string `json:"user_id,omitempty"`
	IP            string `json:"ip,omitempty"`
	// Fingerprint replaces class, file and message in the signature.
	Fingerprint []string `json:"fingerprint,omitempty"`
	// Frames is the stack, oldest call first.
	Frames []Frame `json:"frames,omitempty"`

	// Extra are the application's own values, by name. They become JSON when the
	// event is captured.
	Extra map[string]any `json:"-"`
	// Chain holds the error and its causes, outermost first. It is sent in the
	// payload, as "chain".
	Chain []Cause `json:"-"`
	// Unhandled says that the application did not catch the error: a panic.
	Unhandled bool `json:"-"`
	// Err is the captured error, nil for a message. It is not sent.
	Err error `json:"-"`
}

// Frame is one call of a stack.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	// Module is the import path of the package.
	Module string `json:"module"`
	// InApp says that the call is the application's own code.
	InApp bool `json:"in_app"`
}

// Cause is one error of a tree of wrapped errors.
type Cause struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	// Depth is 0 for the captured error, and one more for each step to a cause.
	// Joined errors have the same depth and stand one after the other.
	Depth int `json:"depth"`
}

// EventOption adds to an event.
type EventOption func(*Event)

// With adds a value under a name.
func With(name string, value any) EventOption {
	return func(e *Event) {
		if e.Extra == nil {
			e.Extra = map[string]any{}
		}
		e.Extra[name] = value
	}
}

// WithLevel sets the level.
func WithLevel(level string) EventOption { return func(e *Event) { e.Level = level } }

// WithType chooses the book: "system" or "database".
func WithType(book string) EventOption { return func(e *Event) { e.Type = book } }

// WithTemplate sets the message without its changing parts.
func WithTemplate(template string) EventOption { return func(e *Event) { e.Template = template } }

// WithFingerprint sets the parts of the signature.
func WithFingerprint(parts ...string) EventOption {
	return func(e *Event) { e.Fingerprint = parts }
}

// WithUser sets the user for whom the application worked.
func WithUser(id string) EventOption { return func(e *Event) { e.UserID = id } }

// WithIP sets the address that the request came from.
func WithIP(address string) EventOption { return func(e *Event) { e.IP = address } }

// WithRequest adds the URI and the method of a request, and the sender's address.
// The service keeps only harmless parts of a query.
func WithRequest(r *http.Request) EventOption {
	return func(e *Event) {
		if r == nil {
			return
		}
		e.RequestMethod = r.Method
		if r.URL != nil {
			e.RequestURI = r.URL.RequestURI()
		}
		if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
			e.IP = host
		}
	}
}

type contextKey struct{}

// NewContext returns a context that adds the options to all of its events. The
// options of an outer context come first.
func NewContext(ctx context.Context, opts ...EventOption) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, contextKey{}, append(contextOptions(ctx), opts...))
}

// contextOptions are the options of a context. Appending to them is safe.
func contextOptions(ctx context.Context) []EventOption {
	if ctx == nil {
		return nil
	}
	opts, _ := ctx.Value(contextKey{}).([]EventOption)
	return slices.Clip(opts)
}

// newID makes a random id.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

const (
	// maxMessage bounds a message, in bytes: the service keeps 64 KiB of it, and
	// reads a little more to scrub it.
	maxMessage = 66 << 10
	// maxPayload bounds the payload of one event, in bytes. A larger one loses the
	// application's own values.
	maxPayload = 24 << 10
)

// sdkName is the name of this client in its events.
const sdkName = "errata-go/1"

// encode is the event as one JSON object. base are the client's values; a value of
// the event with the same name replaces them.
func (e *Event) encode(base map[string]any) ([]byte, error) {
	type wire Event // without methods
	document := struct {
		*wire
		Payload json.RawMessage `json:"payload"`
	}{wire: (*wire)(e)}
	e.Message, e.Template = cut(e.Message, maxMessage), cut(e.Template, maxMessage)
	payload, err := json.Marshal(e.payload(base, e.Extra))
	if err == nil && len(payload) > maxPayload {
		payload, err = json.Marshal(e.payload(base, map[string]any{
			"extra_left_out": "it was larger than the client sends",
		}))
	}
	if err != nil {
		return nil, err
	}
	document.Payload = payload
	return json.Marshal(document)
}

// payload joins the values of the client and of the application. An application's
// value with a name that the client needs gets a prefix.
func (e *Event) payload(base, extra map[string]any) map[string]any {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range extra {
		switch name {
		case "chain", "handled", "sdk":
			name = "extra." + name
		}
		all[cut(name, maxName)] = plain(value)
	}
	all["sdk"] = sdkName
	if len(e.Chain) > 0 {
		all["chain"] = e.Chain
		all["handled"] = !e.Unhandled
	}
	return all
}

// cut is the beginning of a text, at most limit bytes, cut at a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
