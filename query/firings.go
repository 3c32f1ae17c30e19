package query

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// Fired is the last firing of each rule that has fired behind one place on the log and before
// another, by the id of the rule. Errors: store_unavailable.
func (r *Reader) Fired(ctx context.Context, after, before errata.Position) (last map[string]errata.Position, err error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	q, err := build("fired.sql", statementData{}, nil, clickhouse.Settings{"max_threads": 1}, bind("after", uint64(after)), bind("before", uint64(before)))
	if err == nil {
		last = map[string]errata.Position{}
		err = r.each(ctx, q, func(row driver.Rows) error {
			var (
				rule     string
				position uint64
			)
			if err := row.Scan(&rule, &position); err != nil {
				return fmt.Errorf("read the last firing of a rule: %w", err)
			}
			last[rule] = errata.Position(position)
			return nil
		})
	}
	if err != nil {
		return nil, r.explain(ctx, "read which rules have fired", err)
	}
	return last, nil
}

// Firings are the first firings of a rule behind one place on the log and up to another, at
// most limit, in the order of the log. all says how many there are without the limit. Errors: store_unavailable.
func (r *Reader) Firings(ctx context.Context, rule string, after, last errata.Position, limit int) (first []alerts.Firing, all uint64, err error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	q, err := build("firings.sql", statementData{}, nil, clickhouse.Settings{"max_threads": 1},
		bind("rule", rule), bind("after", uint64(after)), bind("last", uint64(last)), bind("limit", uint64(limit)))
	if err == nil {
		err = r.each(ctx, q, func(row driver.Rows) error {
			var f alerts.Firing
			if f, all, err = firingOf(row); err == nil {
				first = append(first, f)
			}
			return err
		})
	}
	if err != nil {
		return nil, 0, r.explain(ctx, "read what has fired", err)
	}
	return first, all, nil
}

// firingOf reads a row of firings.sql: a firing, and how many there are without the limit.
func firingOf(row driver.Rows) (f alerts.Firing, all uint64, err error) {
	var (
		book, level      int8
		signature, cause string
		id, position     uint64
	)
	if err := row.Scan(&book, &signature, &id, &position, &f.Rule, &cause, &f.Clock, &f.Project, &f.Count, &f.Environment, &f.Release, &level,
		&f.Events, &f.Usual, &f.Minutes, &all); err != nil {
		return f, 0, fmt.Errorf("read a firing: %w", err)
	}
	f.Record = errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}
	f.ID, f.Position, f.Cause, f.Level = errata.Position(id), errata.Position(position), alerts.Cause(cause), errata.Level(level)
	return f, all, nil
}

// Items describe firings for a message, one for each, with the number of the project and
// without links. When the record is gone, an item has only what its firing has. Errors:
// store_unavailable.
func (r *Reader) Items(ctx context.Context, firings []alerts.Firing) ([]alerts.Item, error) {
	var keys []errata.RecordKey
	for i := range firings {
		if firings[i].Cause != alerts.CauseQuiet { // it has no record
			keys = append(keys, firings[i].Record)
		}
	}
	live, err := r.Live(ctx, keys)
	if err != nil {
		return nil, err
	}
	var records []errata.Record
	for _, record := range live {
		records = append(records, record)
	}
	if err := r.CountUsers(ctx, records); err != nil {
		return nil, err
	}
	for _, record := range records {
		live[record.Key()] = record
	}
	items := make([]alerts.Item, len(firings))
	for i := range firings {
		f := &firings[i]
		items[i] = itemOf(f)
		record, there := live[f.Record]
		if f.Cause == alerts.CauseQuiet || !there || record.ID != f.ID {
			continue
		}
		items[i].Class, items[i].Text, items[i].File, items[i].Line = record.Class, record.Message, record.File, record.Line
		items[i].FirstSeen, items[i].Users = record.FirstSeen, record.Users
		at, err := r.Occurrence(ctx, f.Record.Book, f.Record.Signature, strconv.FormatUint(uint64(f.Position), 10), Projects{})
		switch {
		case err == nil:
			items[i].EventID, items[i].Event = at.EventID, at.Received
		case errata.KindOf(err) != errata.KindNotFound:
			return nil, err
		}
	}
	return items, nil
}

// itemOf is what a firing has by itself.
func itemOf(f *alerts.Firing) alerts.Item {
	item := alerts.Item{
		Cause: f.Cause, Event: time.UnixMilli(f.Clock).UTC(), Project: strconv.FormatUint(f.Project, 10), Events: f.Events, Usual: f.Usual, Minutes: f.Minutes,
	}
	if f.Cause != alerts.CauseQuiet {
		item.Book, item.Signature, item.Count = f.Record.Book.String(), f.Record.Signature.String(), f.Count
		item.Environment, item.Release, item.Level = f.Environment, f.Release, f.Level.String()
	}
	return item
}
