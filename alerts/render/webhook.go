package render

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// maxWebhook is the size that Standard Webhooks advises to stay below
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md, "Payload size").
const maxWebhook = 20 << 10

// event is the body of a webhook.
type event struct {
	Type      string         `json:"type"`
	Timestamp errata.Instant `json:"timestamp"`
	Data      eventData      `json:"data"`
}

type eventData struct {
	Rule  eventRule   `json:"rule"`
	Fired uint64      `json:"fired"`
	Items []eventItem `json:"items"`
}

type eventRule struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Link string `json:"link"`
}

type eventItem struct {
	Cause   alerts.Cause `json:"cause"`
	Project string       `json:"project"`
	// Spike, Quiet, and for a quiet project Record and Occurrence are nil for none.
	Spike      *eventSpike      `json:"spike,omitempty"`
	Quiet      *eventQuiet      `json:"quiet,omitempty"`
	Record     *eventRecord     `json:"record,omitempty"`
	Occurrence *eventOccurrence `json:"occurrence,omitempty"`
	Link       string           `json:"link"`
	MuteLink   string           `json:"mute_link"`
}

type eventSpike struct {
	Events  uint64 `json:"events"`
	Usual   uint64 `json:"usual"`
	Minutes uint64 `json:"minutes"`
}

type eventQuiet struct {
	Minutes uint64 `json:"minutes"`
}

type eventRecord struct {
	Book      string         `json:"book"`
	Signature string         `json:"signature"`
	Count     uint64         `json:"count"`
	Users     uint64         `json:"users"`
	Level     string         `json:"level"`
	Class     string         `json:"class"`
	Message   string         `json:"message"`
	File      string         `json:"file"`
	Line      uint32         `json:"line"`
	FirstSeen errata.Instant `json:"first_seen"`
}

type eventOccurrence struct {
	EventID     string         `json:"event_id"`
	Received    errata.Instant `json:"received"`
	Environment string         `json:"environment"`
	Release     string         `json:"release"`
}

// webhook is a body that programs read, signed for this attempt: a receiver refuses a
// timestamp that is some minutes old, however old the message is.
func (r *Request) webhook(secret string, m alerts.Message, now time.Time) error {
	key, err := alerts.SigningKey(secret)
	if err != nil {
		return fmt.Errorf("%w: its secret is no signing key", ErrChannel)
	}
	r.Body = fitJSON(maxWebhook, func(s size) event { return eventOf(m, s) })
	timestamp := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write(fmt.Appendf(nil, "%s.%s.%s", m.ID, timestamp, r.Body))
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r.Header["webhook-id"] = m.ID
	r.Header["webhook-timestamp"] = timestamp
	r.Header["webhook-signature"] = signature
	r.Secrets = append(r.Secrets, base64.StdEncoding.EncodeToString(key), signature)
	return nil
}

func eventOf(m alerts.Message, s size) event {
	e := event{Type: "error.test", Timestamp: errata.Instant(m.At), Data: eventData{
		Rule:  eventRule{ID: m.RuleID, Name: line(m.RuleName, maxName), Link: link(m.RuleLink)},
		Fired: max(m.Fired, uint64(len(m.Items))), Items: []eventItem{},
	}}
	if !m.Test {
		e.Type = typeOf(m.Items[0].Cause)
	}
	for _, item := range m.Items[:min(len(m.Items), s.items)] {
		e.Data.Items = append(e.Data.Items, eventItemOf(&item, s.text))
	}
	return e
}

func eventItemOf(item *alerts.Item, most int) eventItem {
	e := eventItem{Cause: item.Cause, Project: slug(item.Project), Link: link(item.Link)}
	switch item.Cause {
	case alerts.CauseQuiet:
		e.Quiet = &eventQuiet{item.Minutes}
		return e
	case alerts.CauseSpike:
		e.Spike = &eventSpike{item.Events, item.Usual, item.Minutes}
	default: // what it has stands in the record
	}
	short := min(maxPlace, most)
	e.MuteLink = link(item.MuteLink)
	e.Record = &eventRecord{
		Book: line(item.Book, short), Signature: line(item.Signature, short), Count: item.Count, Users: item.Users,
		Level: line(item.Level, short), Class: line(item.Class, short), Message: lines(item.Text, most),
		File: ending(line(item.File, maxFile), short), Line: item.Line, FirstSeen: errata.Instant(item.FirstSeen),
	}
	e.Occurrence = &eventOccurrence{
		EventID: line(item.EventID, short), Received: errata.Instant(item.Event),
		Environment: line(item.Environment, short), Release: line(item.Release, short),
	}
	return e
}

// typeOf is the type of a message that begins with such a firing.
func typeOf(cause alerts.Cause) string {
	if cause == alerts.CauseQuiet {
		return "project.quiet"
	}
	return "error." + string(cause)
}
