package projector

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/first_context.sql
	sqlFirstContext string
	//go:embed sql/latest_context.sql
	sqlLatestContext string
	//go:embed sql/latest_position.sql
	sqlLatestPosition string
)

// Payloads finds the payloads of occurrences: on the log, or, once that was purged, those
// of the first and the latest occurrence of a record in the tables. Several goroutines may
// use it at a time.
type Payloads struct {
	store  *Store
	log    eventlog.Log
	picker *eventlog.Picker
	erased erasures
}

// NewPayloads makes Payloads.
func NewPayloads(conn driver.Conn, log eventlog.Log) *Payloads {
	return &Payloads{store: NewStore(conn, 0), log: log, picker: eventlog.NewPicker(log, nil), erased: erasures{log: log}}
}

// ownerArgs are the arguments that name a record: a signature that was deleted and seen
// again has a record with another id.
func ownerArgs(of errata.RecordKey, id errata.Position) []any {
	return []any{
		clickhouse.Named("book", of.Book.String()), clickhouse.Named("signature", of.Signature.String()), clickhouse.Named("id", uint64(id)),
	}
}

// Payload is that of the occurrence at the position, of the record with the key and the
// id. It is not available when it was purged, lost or erased.
func (p *Payloads) Payload(ctx context.Context, of errata.RecordKey, id, at errata.Position) (payload []byte, available bool, err error) {
	if at == id {
		payload, known, err := p.first(ctx, ownerArgs(of, id))
		if err != nil || known {
			return payload, len(payload) > 0, err
		}
	}
	ev, err := p.picker.Event(ctx, at)
	switch {
	case err == nil:
		gone, err := p.erased.all(ctx)
		if err != nil || erased(gone, &ev, at) {
			return nil, false, err
		}
		return ev.Payload, len(ev.Payload) > 0, nil
	case errors.Is(err, eventlog.ErrEventGone), errors.Is(err, eventlog.ErrEventUnreadable):
		payload, err = p.latest(ctx, ownerArgs(of, id), at)
		return payload, len(payload) > 0, err
	default:
		return nil, false, err
	}
}

// Available says of which of the record's occurrences at the positions there is a payload,
// without reading them. It does not know of lost and erased ones.
func (p *Payloads) Available(ctx context.Context, of errata.RecordKey, id errata.Position, at []errata.Position) ([]bool, error) {
	state, err := eventlog.Inspect(ctx, p.log)
	if err != nil {
		return nil, err
	}
	available, purged := make([]bool, len(at)), false
	for i := range at {
		available[i] = at[i] == id || at[i].Sequence() >= state.First
		purged = purged || !available[i]
	}
	if !purged {
		return available, nil
	}
	latest, err := one[uint64](ctx, p.store, "look for the context of a latest event", sqlLatestPosition, ownerArgs(of, id)...)
	for i := range at {
		available[i] = available[i] || uint64(at[i]) == latest
	}
	return available, err
}

// first reads the context of the first event. It is empty when it was erased, and not
// known when an older version did not write it.
func (p *Payloads) first(ctx context.Context, owner []any) (payload []byte, known bool, err error) {
	var text string
	var gone uint8
	switch err := p.store.conn.QueryRow(ctx, sqlFirstContext, owner...).Scan(&text, &gone); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read the context of a first event: %w", err)
	}
	return []byte(text), true, nil
}

// latest reads the context of an event that was purged, empty when it is not kept.
func (p *Payloads) latest(ctx context.Context, owner []any, at errata.Position) ([]byte, error) {
	var kept uint64
	var text string
	switch err := p.store.conn.QueryRow(ctx, sqlLatestContext, owner...).Scan(&kept, &text); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the context of a latest event: %w", err)
	case kept != uint64(at):
		return nil, nil
	}
	return []byte(text), nil
}
