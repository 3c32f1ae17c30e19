package ingest

import (
	"context"
	"encoding/json"
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// Draft is one caught error as a receiver understood it: not yet normalised,
// scrubbed or signed. Every field is optional; texts may be of any length and
// hold anything, the pipeline bounds and cleans them.
type Draft struct {
	// ClientID is the id the client gave the event. Equal ids of one project
	// count once, through whatever receivers they come. "" makes a random id.
	ClientID string
	// Book is the book the client chose, BookUnknown to infer it.
	Book  errata.Book
	Level errata.Level // LevelUnknown becomes error

	// Time is when it happened by the client's clock; SentAt is what that
	// clock said when the request left, to measure its drift. Zero: not said.
	Time, SentAt time.Time

	Class   string
	Message string // full text, with parameters filled in
	// Template is the message before its parameters were filled in, "" when
	// the client sends none; it signs better than the message.
	Template    string
	Fingerprint []string // {"{{ default }}"} alone means none
	File        string   // as the client wrote it; prefixes are stripped by the pipeline
	Line        int64
	// PlacedBy says why File and Line are what they are.
	PlacedBy PlacedBy

	URI    string // URL, or path with query; filtered by the pipeline
	Method string
	UserID string     // as sent; digits that fit int64 become user_id
	IP     netip.Addr // the zero Addr when unknown

	Context Context
}

// PlacedBy says how a receiver found the file and the line of an error.
type PlacedBy uint8

// The ways to find a place.
const (
	PlacedBySender    PlacedBy = iota // the event names them
	PlacedByInApp                     // the last frame that says it is of the application
	PlacedByLastFrame                 // the last frame, because none says so
)

// Context is what becomes the payload of a record's first sighting.
type Context struct {
	Source     string // "native", "nats", "sentry", "sentry-log", "otlp-log", "otlp-span", "import-php", "import-monolog", "import-json"
	Exceptions []Exception
	Headers    []Pair // request headers; the pipeline keeps only allow-listed ones
	Tags       []Pair

	Release, Environment, ServerName string
	Platform, SDK, Runtime, OS       string
	TraceID, SpanID                  string
	Transaction, Logger              string
	// Handled says whether the application caught the error itself; nil: not said.
	Handled *bool
	// Extra is one JSON object of the application's own (native receiver), scrubbed
	// and bounded by the pipeline; nil when there is none.
	Extra json.RawMessage
}

// Exception is one link of a chain of causes. Chains are kept oldest cause
// first and the thrown one last, as Sentry sends them.
type Exception struct {
	Class, Message string
	Module         string
	Frames         []Frame // oldest call first
}

// Frame is the shape of one stack frame: where it is, never what it held.
type Frame struct {
	File     string
	Line     int64
	Function string
	Module   string
	InApp    bool
	// Args are the shapes of the arguments: int, bool, string(12), array(3), object(App\User).
	Args []string
}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Source says where drafts come from. It is taken from the key and the
// connection, never from the body.
type Source struct {
	Project  uint64
	KeyID    string
	Received time.Time
	// Archive says that the drafts were written down long ago: their times are
	// believed however old they are.
	Archive bool
}

// Receipt says what became of the drafts of one call.
type Receipt struct {
	// Accepted counts the drafts that are on disk now.
	Accepted int
	// Rejected lists those that are not and never will be, by index.
	Rejected []Rejection
	// Dropped counts the drafts that were taken and not kept, good or not,
	// because recording is switched off.
	Dropped int
}

// Rejection is a draft that was not taken, and why.
type Rejection struct {
	Index int
	Err   *errata.Error
}

// Accepter takes drafts and returns when the accepted ones are on disk. An
// error means that none of them can be relied on: kinds log_unavailable,
// log_full. Receivers call it; [Pipeline] is it.
type Accepter interface {
	Accept(ctx context.Context, src Source, drafts []Draft) (Receipt, error)
}

// Keyring knows the keys that may send events. Receivers ask it; [access.Store] is
// it.
type Keyring interface {
	// ByToken finds the grant of an API key given as bearer text. Errors:
	// unauthorized, insufficient_scope.
	ByToken(token string) (access.Grant, error)
	// ByPublicKey finds the grant of a Sentry public key (32 hex digits) used
	// for a project. An unknown key and a foreign project look the same.
	ByPublicKey(publicKey string, project uint64) (access.Grant, error)
}
