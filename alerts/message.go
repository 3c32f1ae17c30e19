package alerts

import "time"

// Message is what a channel gets: the firings of one rule since its last message, at most
// one message for each rule and minute.
type Message struct {
	// ID is the same for the same firings, whoever sends the message and however often.
	ID string
	// Rule is the rule as it was when the message was made.
	RuleID, RuleName string
	// At is when the message was made.
	At time.Time
	// Fired is how many firings the message is of; Items are the first of them.
	Fired uint64
	Items []Item
	// RuleLink leads to the rule on the page.
	RuleLink string
	// Test says that somebody tries the channel: nothing has fired.
	Test bool
}

// MessageGap is the least time between two messages of a rule.
const MessageGap = time.Minute

// MaxItems is how many firings a message lists.
const MaxItems = 10

// Item is one firing with what a reader needs. All texts but the names of fields are of an
// application, and so hostile: whoever renders them must keep them from being read as
// markup, mentions or links.
type Item struct {
	Cause Cause
	// Events are those of the project in the period of a spike, Usual is their median, and
	// Minutes how long the period is. Of a quiet project Minutes is for how long it is
	// quiet; it has no record and no event, and Event is when that was seen.
	Events, Usual, Minutes uint64
	// Event is the time at which the event was received.
	Event time.Time
	// Book, Signature and Count are those of the record; Count is of then.
	Book, Signature string
	Count, Users    uint64
	Project         string // slug
	Environment     string
	Release         string
	Level           string
	Class, Text     string // Text is the message of the record
	File            string
	Line            uint32
	FirstSeen       time.Time
	// EventID is that of the event.
	EventID string
	// Link leads to the record on the page, or to the quiet project, MuteLink to the page that asks whether to mute it.
	Link, MuteLink string
}
