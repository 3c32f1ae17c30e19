package query

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// Occurrence is one event that a record counts.
type Occurrence struct {
	// Number counts the occurrences of the record from 1, along the log.
	Number   uint64
	Position errata.Position
	// EventID is the client's id of the event, else the one under which it counts.
	EventID string
	// Time is when it happened, Received when ingest received it.
	Time, Received       time.Time
	Environment, Release string
	// User is as the client named it. When the project keeps no names of users, it is
	// # and 16 hex digits, the same for each event of the user; "" is no user.
	User                         string
	Level                        errata.Level
	Server, Transaction, TraceID string
	Tags                         []errata.Tag
	// Available says that its context can be read.
	Available bool
}

// Moment is one occurrence with its context, and its neighbours.
type Moment struct {
	Occurrence
	// Payload is the context, a JSON object; {} when it is not available.
	Payload json.RawMessage
	// Previous and Next are the positions of the occurrences before and after it,
	// along the log; 0 for none.
	Previous, Next errata.Position
}

// Payloads are the contexts of single occurrences, wherever they are kept.
type Payloads interface {
	// Payload reads the context of the occurrence at the position, of the record with the
	// key and the id: one JSON object. It is not available when it is not kept any more.
	Payload(ctx context.Context, of errata.RecordKey, id, at errata.Position) (payload []byte, available bool, err error)
	// Available says of each position whether Payload would find a context.
	Available(ctx context.Context, of errata.RecordKey, id errata.Position, at []errata.Position) ([]bool, error)
}

// scanOccurrence reads a row of occurrences.sql.
func scanOccurrence(row driver.Rows) (o Occurrence, err error) {
	var (
		position, user       uint64
		event, client, level string
		tags                 []string
	)
	if err := row.Scan(&o.Number, &position, &event, &client, &o.Time, &o.Received, &o.Environment, &o.Release,
		&user, &o.User, &level, &o.Server, &o.Transaction, &o.TraceID, &tags); err != nil {
		return Occurrence{}, fmt.Errorf("read an occurrence: %w", err)
	}
	o.Position, o.EventID, o.User = errata.Position(position), client, userText(user, o.User)
	if o.EventID == "" {
		o.EventID = hex.EncodeToString([]byte(event))
	}
	o.Time, o.Received, o.TraceID = o.Time.UTC(), o.Received.UTC(), traceText(o.TraceID)
	o.Level, _ = errata.ParseLevel(level)
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, tagSeparator)
		o.Tags = append(o.Tags, errata.Tag{Key: key, Value: value})
	}
	return o, nil
}

// tagSeparator stands between key and value in the column tags.
const tagSeparator = "\t"

// userText is how a user is shown and asked for.
func userText(hash uint64, name string) string {
	if name == "" && hash != 0 {
		return fmt.Sprintf("#%016x", hash)
	}
	return name
}

// userHash is the inverse of userText for users without a name.
func userHash(text string) (hash uint64, ok bool) {
	digits, marked := strings.CutPrefix(text, "#")
	if !marked || len(digits) != 16 {
		return 0, false
	}
	hash, err := strconv.ParseUint(digits, 16, 64)
	return hash, err == nil
}

// traceText is the trace id as it came. One of 32 hex digits is stored as its 16 bytes;
// a text of that length has nothing but letters, digits and marks.
func traceText(stored string) string {
	const marks = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	if len(stored) != 16 || strings.Trim(stored, marks) == "" {
		return stored
	}
	return hex.EncodeToString([]byte(stored))
}

// occurrencesOf reads occurrences that the record counts: at most limit that the
// fragments select, along the log or against it. A row is written before the record
// counts it, and is left out until then.
func (r *Reader) occurrencesOf(ctx context.Context, record *errata.Record, fragments []fragment, direction Direction, limit int) (list []Occurrence, err error) {
	q, err := occurrencesStatement(record, fragments, direction, limit)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		o, err := scanOccurrence(row)
		list = append(list, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the occurrences: %w", err)
	}
	return list, nil
}

func occurrencesStatement(record *errata.Record, fragments []fragment, direction Direction, limit int) (statement, error) {
	data := statementData{Order: strings.ToUpper(string(direction))}
	args := append(ofRecord(record), bind("count", record.Count), bind("limit", uint64(limit)))
	return build("occurrences.sql", data, fragments, rowsInOrder(), args...)
}

// nextOccurrence is the position of the occurrence behind the position, 0 for none. It
// reads one column: to open all of them takes most of the time.
func (r *Reader) nextOccurrence(ctx context.Context, record *errata.Record, position errata.Position) (next errata.Position, err error) {
	q, err := nextStatement(record, position)
	if err != nil {
		return 0, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error { return row.Scan((*uint64)(&next)) })
	if err != nil {
		return 0, fmt.Errorf("find the next occurrence: %w", err)
	}
	return next, nil
}

func nextStatement(record *errata.Record, position errata.Position) (statement, error) {
	return build("next_occurrence.sql", statementData{}, []fragment{after(position)}, rowsInOrder(), append(ofRecord(record), bind("count", record.Count))...)
}

// ofRecord are the arguments that name a record as it is now: of its signature there may
// be rows of a record that is gone.
func ofRecord(record *errata.Record) []any {
	return []any{bind("book", record.Book.String()), bind("signature", record.Signature.String()), bind("id", uint64(record.ID))}
}

// upTo and after are the occurrences on each side of a position.
func upTo(position errata.Position) fragment {
	return fragment{name: "up_to", args: []any{bind("up_to", uint64(position))}}
}

func after(position errata.Position) fragment {
	return fragment{name: "after", args: []any{bind("after", uint64(position))}}
}

// The words for the first and the latest occurrence that is kept.
const (
	First  = "first"
	Latest = "latest"
)

// Occurrence reads one occurrence of a record of the projects, with its context: the one
// at a position, [First] or [Latest]. Errors: invalid_number, not_found,
// store_unavailable.
func (r *Reader) Occurrence(ctx context.Context, book errata.Book, signature errata.Signature, at string, among Projects) (Moment, error) {
	position, err := parsePosition(at)
	if err != nil {
		return Moment{}, err
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var found Moment
	err = r.trusting(func() error {
		record, err := r.record(ctx, book, signature, among)
		if err == nil {
			found, err = r.moment(ctx, &record, at, position)
		}
		return err
	})
	if err != nil {
		return Moment{}, r.explain(ctx, "read an occurrence", err)
	}
	return found, nil
}

// parsePosition reads a position, or one of the words, which have none.
func parsePosition(at string) (errata.Position, error) {
	if at == First || at == Latest {
		return 0, nil
	}
	position, err := strconv.ParseUint(at, 10, 63)
	if err != nil {
		return 0, errata.Errorf(errata.KindInvalidNumber, "The occurrence %s is neither a position, as the list of occurrences shows it, nor first or latest.", shown(at))
	}
	return errata.Position(position), nil
}

func (r *Reader) moment(ctx context.Context, record *errata.Record, at string, position errata.Position) (m Moment, err error) {
	if at == First {
		list, err := r.occurrencesOf(ctx, record, nil, Ascending, 2)
		if err != nil || len(list) == 0 {
			return Moment{}, orMissing(err, at)
		}
		m.Occurrence = list[0]
		if len(list) > 1 {
			m.Next = list[1].Position
		}
		return m, r.fillPayload(ctx, record, &m)
	}
	if at == Latest {
		position = math.MaxInt64
	}
	var list []Occurrence
	parts := []func() error{func() (err error) {
		list, err = r.occurrencesOf(ctx, record, []fragment{upTo(position)}, Descending, 2)
		return err
	}}
	if at != Latest {
		parts = append(parts, func() (err error) {
			m.Next, err = r.nextOccurrence(ctx, record, position)
			return err
		})
	}
	err = atOnce(parts...)
	if err != nil || len(list) == 0 || at != Latest && list[0].Position != position {
		return Moment{}, orMissing(err, at)
	}
	m.Occurrence = list[0]
	if len(list) > 1 {
		m.Previous = list[1].Position
	}
	return m, r.fillPayload(ctx, record, &m)
}

// orMissing is the error, or that there is no such occurrence.
func orMissing(err error, at string) error {
	if err != nil {
		return err
	}
	return errata.Errorf(errata.KindNotFound, "The record has no occurrence %s: it never had one, or it is not kept any more.", cutShort(at))
}

func cutShort(text string) string { return short(strings.ToValidUTF8(text, "\uFFFD")) }

// fillPayload reads the context of the moment. Without Payloads there is that of the
// first sighting alone, which is in the table contexts.
func (r *Reader) fillPayload(ctx context.Context, record *errata.Record, m *Moment) error {
	var (
		payload []byte
		err     error
	)
	switch {
	case r.payloads != nil:
		payload, m.Available, err = r.payloads.Payload(ctx, record.Key(), record.ID, m.Position)
	case m.Position == record.ID:
		_, payload, err = r.payload(ctx, record.Book, record.Signature, uint64(record.ID))
		m.Available = err == nil
	}
	if err != nil {
		return fmt.Errorf("read the context: %w", err)
	}
	if m.Payload = payload; !m.Available || len(payload) == 0 {
		m.Payload, m.Available = json.RawMessage("{}"), false
	}
	return nil
}

// fillAvailable says of each occurrence whether its context can be read.
func (r *Reader) fillAvailable(ctx context.Context, record *errata.Record, list []Occurrence) error {
	if r.payloads == nil || len(list) == 0 {
		for i := range list {
			list[i].Available = list[i].Position == record.ID
		}
		return nil
	}
	positions := make([]errata.Position, len(list))
	for i, o := range list {
		positions[i] = o.Position
	}
	available, err := r.payloads.Available(ctx, record.Key(), record.ID, positions)
	if err != nil {
		return fmt.Errorf("see which contexts are kept: %w", err)
	}
	for i := range list {
		list[i].Available = available[i]
	}
	return nil
}
