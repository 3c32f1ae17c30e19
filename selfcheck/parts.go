package selfcheck

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/query"
)

var (
	//go:embed sql/parts.sql
	sqlParts string
	//go:embed sql/detached.sql
	sqlDetached string
	//go:embed sql/mutations.sql
	sqlMutations string
	//go:embed sql/broken_projections.sql
	sqlBrokenProjections string
)

// part is an active part of one of our tables.
type part struct {
	table, uuid, name string // the uuid is the table's
	rows, bytes       uint64
	modified          time.Time
	blocks            blocks
}

// id is different for all parts, also after a table was exchanged for another.
func (p part) id() string { return p.uuid + "/" + p.name }

// parts lists the active parts of our tables, the youngest first, and the tables
// by their uuids.
func (c *Checker) parts(ctx context.Context) (all []part, tables map[string]string, err error) {
	rows, err := c.cfg.ClickHouse.Query(ctx, sqlParts)
	if err != nil {
		return nil, nil, fmt.Errorf("list the parts of the tables: %w", err)
	}
	defer rows.Close()
	tables = map[string]string{}
	for rows.Next() {
		var p part
		var modified int64
		if err := rows.Scan(&p.table, &p.uuid, &p.name, &p.rows, &p.bytes, &modified, &p.blocks.First, &p.blocks.Last); err != nil {
			return nil, nil, fmt.Errorf("list the parts of the tables: %w", err)
		}
		tables[p.uuid] = p.table
		p.modified = time.Unix(modified, 0)
		if p.name != "" {
			all = append(all, p)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("list the parts of the tables: %w", err)
	}
	return all, tables, nil
}

// setAside lists the parts that ClickHouse could not load when it started.
func (c *Checker) setAside(ctx context.Context) (all []part, err error) {
	rows, err := c.cfg.ClickHouse.Query(ctx, sqlDetached)
	if err != nil {
		return nil, fmt.Errorf("list the parts that were set aside: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var p part
		var first, last *int64
		if err := rows.Scan(&p.table, &p.name, &first, &last); err != nil {
			return nil, fmt.Errorf("list the parts that were set aside: %w", err)
		}
		if first != nil && last != nil {
			p.blocks = blocks{*first, *last}
			all = append(all, p)
		}
	}
	return all, rows.Err()
}

// held returns by table the blocks of its active parts, and the numbers that no
// part can have because mutations have taken them.
func (c *Checker) held(ctx context.Context, active []part) (held map[string][]blocks, err error) {
	held = map[string][]blocks{}
	for _, p := range active {
		held[p.table] = append(held[p.table], p.blocks)
	}
	rows, err := c.cfg.ClickHouse.Query(ctx, sqlMutations)
	if err != nil {
		return nil, fmt.Errorf("list the mutations of the tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var number int64
		if err := rows.Scan(&table, &number); err != nil {
			return nil, fmt.Errorf("list the mutations of the tables: %w", err)
		}
		held[table] = append(held[table], blocks{number, number})
	}
	return held, rows.Err()
}

// checkPart has ClickHouse compare every file of the part with its checksum, also
// those of ClickHouse projections and skip indexes. damage is nil if the part is
// whole or does not exist any more.
//
//nolint:nilnil // no damage is an answer
func (c *Checker) checkPart(ctx context.Context, p part) (damage *Damage, err error) {
	passed, message, err := c.ask(ctx, p)
	switch {
	case errors.Is(err, errHangs):
		return &Damage{Table: p.table, Part: p.name, Rows: p.rows, Kind: KindRows, What: err.Error()}, nil
	case isGone(err):
		return nil, nil
	case err != nil && !query.IsDamage(err):
		return nil, fmt.Errorf("check the part %s of %s: %w", p.name, p.table, err)
	case err != nil:
		message = err.Error()
	case passed:
		return nil, nil
	}
	found := Damage{Table: p.table, Part: p.name, Rows: p.rows, Kind: KindRows, What: firstLine(message)}
	if found.Projections, err = c.brokenProjections(ctx, p); err != nil {
		return nil, err
	}
	if len(found.Projections) == 0 && ofRows(message) {
		return &found, nil
	}
	switch whole, err := c.rowsWhole(ctx, p); {
	case isGone(err):
		return nil, nil
	case err != nil:
		return nil, err
	case whole && len(found.Projections) > 0:
		found.Kind = KindProjection
	case whole:
		found.Kind = KindIndex
	}
	return &found, nil
}

// ask runs CHECK TABLE on the part; message is ClickHouse's reason when it does
// not pass. The statement takes no parameters: both names come from sql/parts.sql.
func (c *Checker) ask(ctx context.Context, p part) (passed bool, message string, err error) {
	ctx, done := c.whileItAnswers(ctx, p.bytes)
	defer done()
	defer func() {
		if err != nil && hangs(ctx) {
			err = errHangs
		}
	}()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"check_query_single_value_result": 0, "max_threads": 1}))
	rows, err := c.cfg.ClickHouse.Query(ctx, "CHECK TABLE "+p.table+" PART '"+p.name+"'")
	if err != nil {
		return false, "", err
	}
	defer rows.Close()
	passed = true
	for rows.Next() {
		var name, said string
		var ok uint8
		if err := rows.Scan(&name, &ok, &said); err != nil {
			return false, "", err
		}
		if ok == 0 {
			passed, message = false, said
		}
	}
	return passed, message, rows.Err()
}

// brokenProjections returns the ClickHouse projections of the part that the check
// has marked as broken.
func (c *Checker) brokenProjections(ctx context.Context, p part) (names []string, err error) {
	rows, err := c.cfg.ClickHouse.Query(ctx, sqlBrokenProjections, clickhouse.Named("table", p.table), clickhouse.Named("part", p.name))
	if err != nil {
		return nil, fmt.Errorf("ask which projections are broken: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("ask which projections are broken: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// rowsWhole reads every column of every row of the part, without projections and
// indexes, and reports whether that works.
func (c *Checker) rowsWhole(ctx context.Context, p part) (bool, error) {
	ctx, done := c.whileItAnswers(ctx, p.bytes)
	defer done()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"optimize_use_projections": 0, "use_skip_indexes": 0, "use_query_condition_cache": 0,
		"asterisk_include_materialized_columns": 1, "max_threads": 1,
	}))
	var rows, sum uint64
	row := c.cfg.ClickHouse.QueryRow(ctx, "SELECT count(), groupBitXor(cityHash64(*)) FROM "+p.table+" WHERE _part = {part:String}", clickhouse.Named("part", p.name))
	switch err := row.Scan(&rows, &sum); {
	case query.IsDamage(err), hangs(ctx):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the part %s of %s: %w", p.name, p.table, err)
	}
	return rows == p.rows, nil
}

// isGone reports whether the error says that the part is not active any more,
// because a merge has replaced it.
func isGone(err error) bool {
	const noSuchDataPart = 232
	answer := (*clickhouse.Exception)(nil)
	return errors.As(err, &answer) && answer.Code == noSuchDataPart
}

// firstLine returns the readable beginning of a message of ClickHouse.
func firstLine(text string) string {
	const most = 300
	text, _, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, ", Stack trace")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
