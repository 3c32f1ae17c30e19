package testenv

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// Occurrence is a row of occurrences that a test writes itself.
type Occurrence struct {
	Number   uint64
	Position errata.Position
	// EventID is 32 hex digits, or any other text, which is a client's id.
	EventID                      string
	Time, Received               time.Time
	Environment, Release         string
	UserHash                     uint64
	User                         string
	Level                        errata.Level
	Server, Transaction, TraceID string
	Tags                         []errata.Tag
}

// OccurrenceBatch is rows of occurrences, as one block.
type OccurrenceBatch struct{ driver.Batch }

// NewOccurrenceBatch begins a batch; the caller closes it.
func NewOccurrenceBatch(ctx context.Context, conn driver.Conn) (*OccurrenceBatch, error) {
	//nolint:clickhouselint // whoever asks for it closes it
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO occurrences (book, signature, id, position, number, project, time, received,
		event_id, client_id, environment, release, user_hash, user, level, server, transaction, trace_id, tags, count)`)
	return &OccurrenceBatch{batch}, err
}

// Add appends an occurrence of the record.
func (b *OccurrenceBatch) Add(r errata.Record, o Occurrence) error {
	event, client := rawOf(o.EventID), ""
	if len(event) != 16 {
		id := errata.NewEventID(r.Project, o.EventID)
		event, client = string(id[:]), o.EventID
	}
	trace := o.TraceID
	if raw := rawOf(trace); len(raw) == 16 {
		trace = raw
	}
	tags := make([]string, len(o.Tags))
	for i, tag := range o.Tags {
		tags[i] = tag.Key + "\t" + tag.Value
	}
	return b.Append(r.Book.String(), string(r.Signature[:]), uint64(r.ID), uint64(o.Position), o.Number, r.Project, o.Time, o.Received,
		event, client, o.Environment, o.Release, o.UserHash, o.User, o.Level.String(), o.Server, o.Transaction, trace, tags, uint64(1))
}

// rawOf are the bytes of hex digits, "" for other texts.
func rawOf(digits string) string {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return ""
	}
	return string(raw)
}
