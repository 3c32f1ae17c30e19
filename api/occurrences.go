package api

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Occurrences reads the single events behind records.
type Occurrences interface {
	// Occurrences reads a page of the occurrences of a record by the query parameters
	// that select them, the newest first; a cursor of 0 is the first page. Errors:
	// invalid_pattern, invalid_date, not_found, store_unavailable.
	Occurrences(ctx context.Context, book errata.Book, signature errata.Signature, values url.Values, cursor uint64, limit int, among query.Projects) (query.Occurrences, error)
	// Occurrence reads one with its context: the one at a position, first or latest.
	// Errors: invalid_number, not_found, store_unavailable.
	Occurrence(ctx context.Context, book errata.Book, signature errata.Signature, at string, among query.Projects) (query.Moment, error)
	// Event finds the newest occurrence with the event id, and its record. Errors:
	// not_found, store_unavailable.
	Event(ctx context.Context, id string, among query.Projects) (errata.Record, query.Moment, error)
	// Facets reads what the occurrences of a record have in common. Errors: not_found,
	// store_unavailable.
	Facets(ctx context.Context, book errata.Book, signature errata.Signature, among query.Projects) (query.Facets, error)
}

type occurrenceJSON struct {
	Number           uint64            `json:"number"`
	Position         errata.Position   `json:"position"`
	EventID          string            `json:"event_id"`
	Time             errata.Instant    `json:"time"`
	Received         errata.Instant    `json:"received"`
	Environment      string            `json:"environment"`
	Release          string            `json:"release"`
	User             string            `json:"user"`
	Level            string            `json:"level"`
	Server           string            `json:"server"`
	Transaction      string            `json:"transaction"`
	TraceID          string            `json:"trace_id"`
	Tags             map[string]string `json:"tags"`
	PayloadAvailable bool              `json:"payload_available"`
}

type momentJSON struct {
	occurrenceJSON
	Payload json.RawMessage `json:"payload"`
	// Previous and Next are positions, null for none.
	Previous *errata.Position `json:"previous"`
	Next     *errata.Position `json:"next"`
}

type occurrencesMeta struct {
	Next  uint64 `json:"next_cursor"`
	Limit int    `json:"limit"`
	Count uint64 `json:"count"`
}

// listOccurrences answers the occurrences of a record.
func (s *service) listOccurrences(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	limit, cursor, err := c.page(query.DefaultLimit, query.MaxLimit)
	if err != nil {
		return answer{}, err
	}
	page, err := s.Occurrences.Occurrences(c.Request.Context(), book, signature, c.Request.URL.Query(), cursor, limit, c.visible())
	return answer{data: mapped(page.List, occurrenceOf), meta: occurrencesMeta{page.Next, limit, page.Count}}, err
}

// getOccurrence answers one of them with its context.
func (s *service) getOccurrence(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	found, err := s.Occurrences.Occurrence(c.Request.Context(), book, signature, strings.ToLower(c.Param("position")), c.visible())
	return reply(momentOf(&found), err)
}

// getEvent answers the record and the occurrence of an event id.
func (s *service) getEvent(c *call) (answer, error) {
	record, found, err := s.Occurrences.Event(c.Request.Context(), c.Param("event_id"), c.visible())
	return reply(struct {
		Record     recordJSON `json:"record"`
		Occurrence momentJSON `json:"occurrence"`
	}{s.recordOf()(&record), momentOf(&found)}, err)
}

func occurrenceOf(o *query.Occurrence) occurrenceJSON {
	row := occurrenceJSON{
		Number: o.Number, Position: o.Position, EventID: o.EventID,
		Time: errata.Instant(o.Time), Received: errata.Instant(o.Received),
		Environment: o.Environment, Release: o.Release, User: o.User, Level: o.Level.String(),
		Server: o.Server, Transaction: o.Transaction, TraceID: o.TraceID,
		Tags: make(map[string]string, len(o.Tags)), PayloadAvailable: o.Available,
	}
	for _, tag := range o.Tags {
		row.Tags[tag.Key] = tag.Value
	}
	return row
}

func momentOf(m *query.Moment) momentJSON {
	all := momentJSON{occurrenceJSON: occurrenceOf(&m.Occurrence), Payload: m.Payload, Previous: placeOf(m.Previous), Next: placeOf(m.Next)}
	if len(all.Payload) == 0 {
		all.Payload = json.RawMessage("{}")
	}
	return all
}

// placeOf is a position, null for 0.
func placeOf(p errata.Position) *errata.Position {
	if p == 0 {
		return nil
	}
	return &p
}

type countedJSON struct {
	Value string `json:"value"`
	Count uint64 `json:"count"`
}

type deployedJSON struct {
	countedJSON
	FirstSeen errata.Instant `json:"first_seen"`
	LastSeen  errata.Instant `json:"last_seen"`
}

type usersJSON struct {
	Count uint64        `json:"count"`
	Top   []countedJSON `json:"top"`
}

type facetsJSON struct {
	Environments []deployedJSON           `json:"environments"`
	Releases     []deployedJSON           `json:"releases"`
	Users        usersJSON                `json:"users"`
	Tags         map[string][]countedJSON `json:"tags"`
}

// getFacets answers what the occurrences of a record have in common.
func (s *service) getFacets(c *call) (answer, error) {
	book, signature, err := c.record()
	if err != nil {
		return answer{}, err
	}
	found, err := s.Occurrences.Facets(c.Request.Context(), book, signature, c.visible())
	facets := facetsJSON{
		Environments: mapped(found.Environments, deployedOf), Releases: mapped(found.Releases, deployedOf),
		Users: usersJSON{found.Users, mapped(found.TopUsers, countedOf)}, Tags: make(map[string][]countedJSON, len(found.Tags)),
	}
	for key, values := range found.Tags {
		facets.Tags[key] = mapped(values, countedOf)
	}
	return reply(facets, err)
}

func countedOf(c *query.Counted) countedJSON { return countedJSON{c.Value, c.Count} }

func deployedOf(d *query.Deployed) deployedJSON {
	return deployedJSON{countedOf(&d.Counted), errata.Instant(d.FirstSeen), errata.Instant(d.LastSeen)}
}
