package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/post"
)

// State is how far a delivery has come.
type State string

// The states.
const (
	// Waiting is to be sent, for the first time or again.
	Waiting State = "waiting"
	// Sent has arrived.
	Sent State = "sent"
	// Failed has not arrived in a day, or its channel is gone.
	Failed State = "failed"
)

// States are all states, in their order.
var States = []State{Waiting, Sent, Failed}

const (
	// patience is for how long a message is tried.
	patience = 24 * time.Hour
	// lease is how long a node may take to send: far longer than a try takes. Behind it
	// another node sends.
	lease = time.Minute
	// keptTries is how many tries a delivery remembers.
	keptTries = 5
)

// backOff are the pauses between tries; the last one holds from then on.
var backOff = []time.Duration{
	5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
}

// Delivery is one message on its way to one channel.
type Delivery struct {
	ID      string          `json:"id"`
	Rule    string          `json:"rule"`
	Channel string          `json:"channel"`
	Made    time.Time       `json:"made"`
	Fired   uint64          `json:"fired"`
	Subject string          `json:"subject"` // what the message is about, for a list
	State   State           `json:"state"`
	Tries   int             `json:"tries"`
	Last    []Try           `json:"last"` // the latest tries, the newest last
	Next    time.Time       `json:"next"` // when to try again
	Message *alerts.Message `json:"message,omitempty"`
	// Left are the addresses of a mail that have not got it yet; empty for all.
	Left []string `json:"left,omitempty"`
	// Leased says until when some node is sending it.
	Leased time.Time `json:"leased,omitzero"`
}

// Try is what came of one attempt.
type Try struct {
	At     time.Time `json:"at"`
	OK     bool      `json:"ok"`
	Status int       `json:"status,omitempty"` // of HTTP or SMTP, 0 for none
	// Answer is what the receiver said, Error why it did not take the message.
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
}

// try is the attempt with this outcome.
func try(at time.Time, o post.Outcome) Try {
	return Try{At: at.UTC(), OK: o.OK, Status: o.Status, Answer: o.Answer, Error: o.Err}
}

// due says whether a node may send it now.
func (d *Delivery) due(now time.Time) bool {
	return d.State == Waiting && !d.Next.After(now) && !d.Leased.After(now)
}

// after is the delivery after an attempt. One that has ended needs its message no more.
func (d Delivery) after(at time.Time, outcome post.Outcome) Delivery {
	d.Tries++
	d.Last = append(append([]Try{}, d.Last...), try(at, outcome))
	d.Last = d.Last[max(0, len(d.Last)-keptTries):]
	d.Leased, d.Left = time.Time{}, outcome.Left
	pause := max(backOff[min(d.Tries, len(backOff))-1], outcome.RetryAfter)
	switch {
	case outcome.OK:
		d.State, d.Next, d.Message = Sent, time.Time{}, nil
	case outcome.Permanent || at.Add(pause).Sub(d.Made) > patience:
		d.State, d.Next, d.Message = Failed, time.Time{}, nil
	default:
		d.Next = at.Add(pause).UTC()
	}
	return d
}

// Failure is what the audit trail has of a delivery that has failed.
type Failure struct {
	Version int       `json:"v"`
	ID      string    `json:"id"`
	Rule    string    `json:"rule"`
	Channel string    `json:"channel"`
	Made    time.Time `json:"made"`
	Fired   uint64    `json:"fired"`
	Tries   int       `json:"tries"`
	// Why is why the last try has failed; it names neither URL nor secret of the channel.
	Why string `json:"why"`
}

func (d *Delivery) failure() Failure {
	return Failure{Version: 1, ID: d.ID, Rule: d.Rule, Channel: d.Channel, Made: d.Made, Fired: d.Fired, Tries: d.Tries, Why: d.Last[len(d.Last)-1].Error}
}

// messageID is the id of a message by its first firing, wherever and however often it is
// made.
func messageID(rule string, at errata.Position, cause alerts.Cause) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", rule, uint64(at), cause))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// keyOf is the key of a delivery in the bucket.
func keyOf(message, channel string) string { return message + "." + channel }
