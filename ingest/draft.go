package ingest

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/projects"
)

// Draft is one caught error as a receiver read it: not yet normalised, scrubbed or
// signed. Every field is optional. Texts may be of any length and hold anything; the
// pipeline bounds and cleans them.
type Draft struct {
	// ClientID is the id that the client gave the event. Events of one project with
	// the same id count once, also when they come through different receivers. ""
	// makes a random id.
	ClientID string
	// Book is the book that the client chose; BookUnknown lets the pipeline choose.
	Book  errata.Book
	Level errata.Level // LevelUnknown becomes error

	// Time is when the error happened, by the client's clock. SentAt is when the
	// client sent the request, by the same clock, to measure its drift. Zero: unknown.
	Time, SentAt time.Time
	// NoTime says that the client sent a time that cannot be read.
	NoTime bool `json:",omitempty"`

	Class   string
	Message string // full text, with parameters filled in
	// Template is the message before its parameters were filled in, "" when the
	// client sends none. It groups better than the message.
	Template    string
	Fingerprint []string // {"{{ default }}"} alone means none
	File        string   // as the client wrote it; prefixes are stripped by the pipeline
	Line        int64
	// PlacedBy says how File and Line were found.
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

// Context becomes the payload of a record's first event.
type Context struct {
	Source     string // "native", "nats", "sentry", "sentry-log", "otlp-log", "otlp-span", "import-php", "import-monolog", "import-json"
	Exceptions []Exception
	Headers    []Pair // request headers; the pipeline keeps only allow-listed ones
	Tags       []Pair

	Release, Environment, ServerName string
	Platform, SDK, Runtime, OS       string
	TraceID, SpanID                  string
	Transaction, Logger              string
	// Log is what the application wrote to its log with an exception. Message is then the
	// exception's own.
	Log string `json:",omitempty"`
	// Handled says whether the application caught the error itself; nil: unknown.
	Handled *bool
	// Extra is a JSON object of the application's own. The pipeline scrubs and bounds
	// it. nil when there is none.
	Extra json.RawMessage
	// ExtraWhole says that Extra has the room of the whole payload and not MaxExtra.
	ExtraWhole bool `json:",omitempty"`
	// Contexts is a JSON object of objects about the surroundings, by name, in the
	// same way. Drafts of one request may share it.
	Contexts *Shared `json:",omitempty"`
	// Breadcrumbs are what happened before the error, oldest first.
	Breadcrumbs []Breadcrumb `json:",omitempty"`
	// Lost names members of the payload of which the receiver has dropped a part.
	Lost []string `json:",omitempty"`
}

// Lose adds the name of a member of which a part is dropped.
func (c *Context) Lose(name string) {
	if !slices.Contains(c.Lost, name) {
		c.Lost = append(c.Lost, name)
	}
}

// Shared is a JSON object that many drafts of one request may have. The pipeline scrubs
// it once. It must not be used by several goroutines at once.
type Shared struct {
	Raw   json.RawMessage
	clean []byte // nil until it was scrubbed
}

// MarshalJSON is the object.
func (s *Shared) MarshalJSON() ([]byte, error) { return s.Raw.MarshalJSON() }

// Breadcrumb is one thing that happened before an error.
type Breadcrumb struct {
	Time                           time.Time `json:",omitzero"`
	Type, Category, Level, Message string    `json:",omitempty"`
	// Data is a JSON object, nil for none.
	Data json.RawMessage `json:",omitempty"`
}

// Exception is one link of a chain of causes. A chain begins with the oldest cause
// and ends with the thrown exception, as Sentry sends it.
type Exception struct {
	Class, Message string
	Module         string
	Frames         []Frame // oldest call first
	// Mechanism says how the SDK caught it, such as "onerror".
	Mechanism string `json:",omitempty"`
	// Member is its place in a tree of exceptions, nil when the chain says all.
	Member *Member `json:",omitempty"`
}

// Member is the place of an exception in a tree.
type Member struct {
	ID int64
	// Parent is the ID of the exception that holds it, -1 for none.
	Parent int64
	// Group says that it stands for several exceptions.
	Group bool
}

// Frame is the place of one stack frame, and of a frame of the application what stands
// around it.
type Frame struct {
	File     string
	Line     int64
	Function string
	Module   string
	InApp    bool
	// Args are the shapes of the arguments, see [IsShape]: int, string(12), object(App\User).
	Args []string
	// Column is where in the line, from 1; 0 is unknown.
	Column int64 `json:",omitempty"`
	// Around is what the payload keeps for frames of the application only.
	Around *Around `json:",omitempty"`
}

// Around is the source lines and the variables at the call of a frame.
type Around struct {
	// Before and After are the source lines next to Line, at most MaxSourceLines each.
	Before, After []string `json:",omitempty"`
	Line          string   `json:",omitempty"`
	// Vars is a JSON object of local variables, their values or their shapes; nil for
	// none.
	Vars json.RawMessage `json:",omitempty"`
}

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Source says where drafts come from. Receivers take it from the key and the
// connection, never from the body.
type Source struct {
	Project  uint64
	KeyID    string
	Received time.Time
	// RetentionDays is how many days the project keeps records, 0 for ever. An older time
	// of an event is not believed. [Pipeline] fills it in.
	RetentionDays int
	// Context says what of the context is kept, and UserKey is what users are hashed
	// with, nil for no hash. Pipeline fills them in.
	Context projects.Context
	UserKey []byte
	// Archive says that the drafts come from an old file: their times are believed
	// since 1970.
	Archive bool
}

// Receipt is the result for the drafts of one call.
type Receipt struct {
	// Accepted counts the drafts that are on disk now.
	Accepted int
	// Rejected lists the drafts that can never be accepted.
	Rejected []Rejection
	// Adjusted lists what accepted drafts said and was not believed, in the order of
	// the drafts.
	Adjusted []Adjustment
	// Dropped counts the drafts that were not kept because recording is switched
	// off. They were not checked.
	Dropped int
	// Noise counts the drafts that a noise rule drops. Their sender is told that they
	// were taken.
	Noise int
}

// Rejection is a draft that was not accepted, by its index, and the reason.
type Rejection struct {
	Index int
	Err   *errata.Error
}

// Adjustment is a field of an accepted draft, by the index of the draft, whose value
// was replaced, and the reason. A receiver that answers its client tells it.
type Adjustment struct {
	Index  int    `json:"index"`
	Field  string `json:"field"`
	Reason Reason `json:"reason"`
}

// FieldTime is the field of an Adjustment whose event got the time at which it was
// received.
const FieldTime = "time"

// Reason is the reason of an Adjustment, as the API and the metrics show it.
type Reason string

// The reasons why a time is replaced.
const (
	TimeTooOld     Reason = "too_old"    // before the project's retention, or before 2001
	TimeInFuture   Reason = "in_future"  // after it was received
	TimeUnreadable Reason = "unreadable" // no time
)

// Accepter takes drafts and returns when the accepted ones are on disk. After an
// error, of kind log_unavailable or log_full, none of them may be on disk. Receivers
// call it; [Pipeline] implements it.
type Accepter interface {
	Accept(ctx context.Context, src Source, drafts []Draft) (Receipt, error)
}

// Keyring knows the keys that may send events. Receivers ask it; [access.Store]
// implements it.
type Keyring interface {
	// ByToken finds the grant of an API key given as bearer text. Errors:
	// unauthorized, insufficient_scope.
	ByToken(token string) (access.Grant, error)
	// ByPublicKey finds the grant of a Sentry public key (32 hex digits) for a
	// project. The error for a key of another project is that for an unknown key.
	ByPublicKey(publicKey string, project uint64) (access.Grant, error)
}
