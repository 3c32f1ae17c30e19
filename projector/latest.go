package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/latest_purged.sql
	sqlLatestPurged string
	//go:embed sql/insert_latest.sql
	sqlInsertLatest string
	//go:embed sql/erase_latest.sql
	sqlEraseLatest string
)

// LatestContexts is the table with the contexts of latest events that were purged from
// the log.
const LatestContexts = "latest_contexts"

const (
	// latestRecords is about how many records are looked through at a time.
	latestRecords = 200_000
	// latestTogether is how many contexts are read before they are written, and
	// latestReaders how many blocks are asked for at the same time.
	latestTogether, latestReaders = 256, 4
)

// latestEvent is the latest event of a record, and its place on the log.
type latestEvent struct {
	key recordKey
	id  errata.Position // of the record
	at  errata.Position
	errata.Event
	kept bool // the event was read and is kept
}

// keepLatest copies the contexts of the latest events of all records that are on the log
// before the sequence keep, so that it can be purged. All facts so far are in the tables.
// A repeat copies what is missing.
func (p *Projector) keepLatest(ctx context.Context, keep, records uint64) error {
	state, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err != nil || keep <= state.First {
		return err
	}
	gone, err := (&erasures{log: p.cfg.Log}).all(ctx)
	if err != nil {
		return err
	}
	picker, began, kept := eventlog.NewPicker(p.cfg.Log, nil), time.Now(), 0
	for _, within := range rangesOf(records, latestRecords) {
		events, err := p.store.latestPurged(ctx, within, errata.PositionOf(state.First, 0), errata.PositionOf(keep, 0))
		if err != nil {
			return err
		}
		for together := range slices.Chunk(events, latestTogether) {
			if err := readLatest(ctx, picker, together, gone); err != nil {
				return err
			}
			together = slices.DeleteFunc(together, func(e latestEvent) bool { return !e.kept })
			if err := p.store.insertLatest(ctx, together); err != nil {
				return err
			}
			kept += len(together)
			clear(together) // their contexts are in memory
		}
	}
	if kept > 0 {
		p.cfg.Logger.Info("copied the contexts of latest events before a purge", "contexts", kept, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// latestPurged finds the events to copy from a stretch of the log, in its order.
func (s *Store) latestPurged(ctx context.Context, c *sweepChunk, from, until errata.Position) (events []latestEvent, err error) {
	args := append(c.rangeArgs(), clickhouse.Named("from", uint64(from)), clickhouse.Named("until", uint64(until)))
	err = s.each(ctx, "find the latest events before a purge", func(rows driver.Rows) error {
		var book, signature string
		var id, at uint64
		if err := rows.Scan(&book, &signature, &id, &at); err != nil {
			return err
		}
		e := latestEvent{id: errata.Position(id), at: errata.Position(at)}
		e.key.book, _ = errata.ParseBook(book)
		copy(e.key.signature[:], signature)
		events = append(events, e)
		return nil
	}, sqlLatestPurged, args...)
	return events, err
}

// readLatest reads the events from the log. Those that are not there any more, and those
// of erased persons, are not kept.
func readLatest(ctx context.Context, picker *eventlog.Picker, events []latestEvent, gone []logErasure) error {
	group, ctx := errgroup.WithContext(ctx)
	for part := range slices.Chunk(events, (len(events)+latestReaders-1)/latestReaders) {
		group.Go(func() error {
			for i := range part {
				e := &part[i]
				ev, err := picker.Event(ctx, e.at)
				switch {
				case errors.Is(err, eventlog.ErrEventGone), errors.Is(err, eventlog.ErrEventUnreadable):
				case err != nil:
					return err
				default:
					e.Event, e.kept = ev, !erased(gone, &ev, e.at)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// insertLatest writes the contexts. A repeat writes the same rows.
func (s *Store) insertLatest(ctx context.Context, events []latestEvent) error {
	if len(events) == 0 {
		return nil
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
	batch, err := s.conn.PrepareBatch(ctx, sqlInsertLatest)
	if err == nil {
		defer batch.Close()
		for i := range events {
			e := &events[i]
			received := time.UnixMilli(min(max(e.Received.UnixMilli(), 0), lastHour*millisPerHour))
			if err = batch.Append(e.key.book.String(), string(e.key.signature[:]), uint64(e.id), uint64(e.at),
				e.Project, received, userOf(&e.Event), ipColumn(e.IP), string(e.Payload)); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = batch.Send()
	}
	if err != nil {
		return fmt.Errorf("insert contexts of latest events: %w", err)
	}
	return nil
}

// eraseLatest removes the contexts of persons whose events came before the command at the
// position. A repeat finds nothing more.
func (s *Store) eraseLatest(ctx context.Context, e *erasure, at errata.Position) error {
	args := append(e.args(sweep{}.chunk(0, 1)), clickhouse.Named("until", uint64(at)))
	if err := s.delete(ctx, sqlEraseLatest, args...); err != nil {
		return fmt.Errorf("erase contexts of latest events: %w", err)
	}
	return nil
}

// delete carries out a light delete, and returns when nobody sees the rows any more.
func (s *Store) delete(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, tidyLimit)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"lightweight_deletes_sync": 2}))
	return s.conn.Exec(ctx, statement, args...)
}
