package query

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// maxSameEvent bounds how many occurrences of one event id are looked at. Clients of
// different projects may choose the same id, and one that is sent again after a day
// counts again.
const maxSameEvent = 100

// eventFragment is the condition for the event id: the digits of a UUID, or any other id
// of a client as it came.
func eventFragment(name, id string) fragment {
	if digits, ok := errata.ShortUUID(id); ok {
		return fragment{name: name, args: []any{bind("event_id", digits)}}
	}
	return fragment{name: name + "_text", args: []any{bind("event_id", id)}}
}

// Event finds the occurrence with the event id, with or without dashes, and its record:
// of several the newest. Errors: not_found, store_unavailable.
func (r *Reader) Event(ctx context.Context, id string, among Projects) (errata.Record, Moment, error) {
	var (
		record errata.Record
		found  Moment
	)
	id = strings.TrimSpace(id)
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	err := r.trusting(func() (err error) {
		record, found, err = r.event(ctx, id, among)
		return err
	})
	if err != nil {
		return errata.Record{}, Moment{}, r.explain(ctx, "find an event", err)
	}
	return record, found, nil
}

func (r *Reader) event(ctx context.Context, id string, among Projects) (errata.Record, Moment, error) {
	missing := errata.Errorf(errata.KindNotFound, "There is no occurrence with the event id %s: it was not taken, its record was deleted, or it is not kept any more.", cutShort(id))
	if id == "" || len(id) > maxPattern || among.None() || strings.ToValidUTF8(id, "") != id {
		return errata.Record{}, Moment{}, missing
	}
	places, err := r.placesOf(ctx, id, among)
	if err != nil {
		return errata.Record{}, Moment{}, err
	}
	if len(places) == 0 {
		return errata.Record{}, Moment{}, missing
	}
	keys := make([]errata.RecordKey, len(places))
	for i, p := range places {
		keys[i] = p.RecordKey
	}
	var (
		live map[errata.RecordKey]errata.Record
		at   placed
	)
	err = atOnce(
		func() (err error) { live, err = r.live(ctx, keys); return err },
		func() error { at = r.placed(ctx, places[0]); return nil }, // there is hardly ever another
	)
	if err != nil {
		return errata.Record{}, Moment{}, err
	}
	for i, p := range places {
		record, there := live[p.RecordKey]
		if !there || record.ID != p.id || !among.Has(record.Project) {
			continue
		}
		if i > 0 {
			at = r.placed(ctx, p)
		}
		if errata.KindOf(at.err) == errata.KindNotFound || at.err == nil && at.found.Number > record.Count {
			continue // it is not counted yet
		}
		if at.found.Number == record.Count {
			at.found.Next = 0 // nor is that one
		}
		record.Users = at.users[record.ID]
		return record, at.found, at.err
	}
	return errata.Record{}, Moment{}, missing
}

// placed is the occurrence at a place, whether its record counts it already or not, and
// the users of the record.
type placed struct {
	found Moment
	users users
	err   error
}

func (r *Reader) placed(ctx context.Context, p place) (at placed) {
	all := errata.Record{Book: p.Book, Signature: p.Signature, ID: p.id, Count: math.MaxUint64}
	at.err = atOnce(
		func() (err error) { at.found, err = r.moment(ctx, &all, "", p.position); return err },
		func() (err error) { at.users, err = r.usersNow(ctx, []errata.Signature{p.Signature}); return err },
	)
	return at
}

// place is where an occurrence is.
type place struct {
	deployedKey
	position errata.Position
}

// placesOf are the occurrences with the event id, the newest first. They may belong to
// records that are gone.
func (r *Reader) placesOf(ctx context.Context, id string, among Projects) (places []place, err error) {
	q, err := eventStatement(id, among)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book         int8
			signature    string
			id, position uint64
		)
		if err := row.Scan(&book, &signature, &id, &position); err != nil {
			return fmt.Errorf("read where an event is: %w", err)
		}
		key := errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}
		places = append(places, place{deployedKey{key, errata.Position(id)}, errata.Position(position)})
		return nil
	})
	return places, err
}

func eventStatement(id string, among Projects) (statement, error) {
	fragments := append([]fragment{eventFragment("event", id)}, among.fragments()...)
	settings := clickhouse.Settings{
		"max_threads": 2, "optimize_use_projections": 1,
		// Each of these reads other columns of granules that the index names in vain.
		"use_skip_indexes_on_data_read": 0, "use_top_k_dynamic_filtering": 0, "query_plan_optimize_lazy_materialization": 0,
	}
	return build("event.sql", statementData{}, fragments, settings, bind("limit", uint64(maxSameEvent)))
}
