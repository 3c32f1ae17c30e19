package errata

// Trail is what an occurrence shows of its event beside the record: who and what was
// involved this time. All texts are clean, bounded, and empty when unknown.
type Trail struct {
	// ClientID is the id that the client gave the event: 32 lower-case hex digits for a
	// UUID, any other text as it came.
	ClientID string
	// UserHash is a keyed hash of the user, 0 when there is none. It counts users
	// without saying who they are.
	UserHash uint64
	// User is the user as the client named it, empty where the project keeps none.
	User string
	// Server, Transaction and TraceID say where in a system it happened.
	Server, Transaction, TraceID string
	// Tags are the sender's tags, each key once, at most MaxTrailTags, in the order in
	// which they came.
	Tags []Tag
}

// MaxTrailTags is how many tags an occurrence has at most.
const MaxTrailTags = 16

// Tag is one tag of an event.
type Tag struct{ Key, Value string }
