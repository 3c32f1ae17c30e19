package exchange

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var (
	//go:embed sql/insert_modules.sql
	sqlInsertModules string
	//go:embed sql/insert_queries.sql
	sqlInsertQueries string
	//go:embed sql/position_modules.sql
	sqlPositionModules string
	//go:embed sql/position_queries.sql
	sqlPositionQueries string
)

// store is the table of one log.
type store struct {
	conn driver.Conn
	log  Log
	// keep is how long an entry is kept.
	keep time.Duration
}

// position is the place of a message. A new stream has a higher epoch than the
// streams before it.
type position struct{ epoch, sequence uint64 }

// last is the position of the last message in the table, zero for an empty table.
func (s store) last(ctx context.Context) (p position, err error) {
	query := [...]string{Modules: sqlPositionModules, Queries: sqlPositionQueries}[s.log]
	err = s.conn.QueryRow(ctx, query).Scan(&p.epoch, &p.sequence)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return position{}, fmt.Errorf("read how far the log of %s is written: %w", s.log, err)
	}
	return p, nil
}

// write inserts the entries of the messages as one block: all of them or none.
// After an error the outcome is unknown, and the same block must be written again.
func (s store) write(ctx context.Context, epoch uint64, messages []message) error {
	query := [...]string{Modules: sqlInsertModules, Queries: sqlInsertQueries}[s.log]
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"async_insert": 0}))
	batch, err := s.conn.PrepareBatch(ctx, query)
	if err != nil {
		return fmt.Errorf("prepare an insert of %s: %w", s.log, err)
	}
	defer batch.Close()
	for _, m := range messages {
		for i := range m.entries {
			if err := batch.Append(s.row(position{epoch, m.sequence}, i, &m.entries[i])...); err != nil {
				return fmt.Errorf("encode entry %d of message %d of %s: %w", i, m.sequence, s.log, err)
			}
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert %s: %w", s.log, err)
	}
	return nil
}

// row is an entry in the order of the insert's columns.
func (s store) row(at position, index int, e *entry) []any {
	received := time.UnixMilli(e.Received).UTC()
	row := []any{
		at.epoch, at.sequence, uint16(index), e.Project, time.UnixMilli(e.Time).UTC(), received,
		e.Duration, e.Error, e.Request, e.UserID, addressOf(e.IP), received.Add(s.keep),
	}
	if s.log == Modules {
		return append(row, e.Module, e.Direction, e.Action, e.Target, e.Status, e.Sent, e.Answered)
	}
	return append(row, e.Query, e.Rows, e.Connection, e.File, e.Line)
}

// addressOf is an address in the form of the tables: IPv4 in its IPv6 form, :: for
// none.
func addressOf(text string) netip.Addr {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.IPv6Unspecified()
	}
	return netip.AddrFrom16(addr.As16())
}
