package projector

import (
	"encoding/hex"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// OccurrenceRow is a row of the table occurrences.
type OccurrenceRow struct {
	Book                         errata.Book
	Signature                    errata.Signature
	ID, Position                 errata.Position
	Number, Project              uint64
	TimeMillis, ReceivedMillis   int64
	EventID                      errata.EventID
	ClientID                     string
	Environment, Release         string
	UserHash                     uint64
	User                         string
	Level                        errata.Level
	Server, Transaction, TraceID string
	Tags                         string // with commas between
}

// OccurrenceRows are the rows of the model, and of the tables, by position.
type OccurrenceRows map[errata.Position]OccurrenceRow

// Of returns the rows of the record.
func (m OccurrenceRows) Of(r errata.Record) OccurrenceRows {
	of := OccurrenceRows{}
	for at, row := range m {
		if row.Book == r.Book && row.Signature == r.Signature && row.ID == r.ID {
			of[at] = row
		}
	}
	return of
}

// ModelOccur is the model of the fold: the record has counted the event.
func ModelOccur(r errata.Record, rows OccurrenceRows, e errata.Event, at errata.Position) {
	row := OccurrenceRow{
		Book: r.Book, Signature: r.Signature, ID: r.ID, Position: at, Number: r.Count, Project: r.Project,
		TimeMillis: e.Time.UnixMilli(), ReceivedMillis: e.Received.UnixMilli(), EventID: e.ID, ClientID: e.Trail.ClientID,
		Environment: e.Environment, Release: e.Release, UserHash: e.Trail.UserHash, User: e.Trail.User, Level: e.Level,
		Server: e.Trail.Server, Transaction: e.Trail.Transaction, TraceID: e.Trail.TraceID,
	}
	if id, err := hex.DecodeString(row.ClientID); err == nil && len(id) == 16 {
		row.EventID, row.ClientID = errata.EventID(id), ""
	}
	if id, err := hex.DecodeString(row.TraceID); err == nil && len(id) == 16 {
		row.TraceID = string(id)
	}
	var tags []string
	for _, tag := range e.Trail.Tags {
		tags = append(tags, tag.Key+"\t"+tag.Value)
	}
	row.Tags = strings.Join(tags, ",")
	rows[at] = row
}

// ModelErase is the model of an erasure at the position. live are the rows of records
// that are there.
func ModelErase(rows, live OccurrenceRows, user, address string, until errata.Position) {
	hashes := map[uint64]bool{}
	named := func(row OccurrenceRow) bool { return row.User != "" && (row.User == user || row.User == address) }
	for _, row := range live {
		if named(row) && row.UserHash != 0 && row.Position < until {
			hashes[row.UserHash] = true
		}
	}
	clean := func(text string) string {
		if address == "" {
			return text
		}
		return strings.ReplaceAll(text, "["+address+"]", "[[erased]]")
	}
	for at, row := range rows {
		if at >= until {
			continue
		}
		tags := strings.Split(row.Tags, ",")
		if named(row) || hashes[row.UserHash] {
			row.User, row.UserHash = "", 0
			tags = slices.DeleteFunc(tags, func(tag string) bool {
				_, value, _ := strings.Cut(tag, "\t")
				return value != "" && (value == user || value == address)
			})
		}
		row.Server, row.Transaction, row.Tags = clean(row.Server), clean(row.Transaction), clean(strings.Join(tags, ","))
		rows[at] = row
	}
}

// occurredRows are the rows that a batch adds to the table.
func occurredRows(o *occurrences) OccurrenceRows {
	t := &occurrenceRows{occurrences: o, owners: o.owners()}
	t.sort()
	rows, c := OccurrenceRows{}, occurrenceColumns{t: t, rows: t.sorted}
	c.readRecords()
	c.readTexts()
	numbers := c.number()
	for i, r := range t.sorted {
		of := c.records[i]
		rows[r.position] = OccurrenceRow{
			Book: of.Book, Signature: of.Signature, ID: of.ID, Position: r.position, Number: numbers[i], Project: of.Project,
			TimeMillis: r.time, ReceivedMillis: r.received, EventID: r.eventID, ClientID: c.client[i],
			Environment: o.names.list[r.environment], Release: o.names.list[r.release], UserHash: r.userHash, User: c.user[i], Level: r.level,
			Server: o.names.list[r.server], Transaction: o.names.list[r.transaction], TraceID: c.trace[i], Tags: strings.Join(c.tags[i], ","),
		}
	}
	return rows
}
