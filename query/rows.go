package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
)

// key is one live row. Records may share a version, if one command changed
// them, and a record's other states may still be in the table: it takes all
// three to name the row.
type key struct {
	book      errata.Book
	signature errata.Signature
	version   errata.Position
}

func keyOf(book int8, signature string, version uint64) key {
	return key{errata.Book(book), errata.Signature([]byte(signature)), errata.Position(version)}
}

// place is a row's key and where it was when it was found: there it stays until a
// merge replaces the part.
type place struct {
	key
	part   string
	offset uint64 // in rows
}

// placesOf brings together what a statement returned as columns.
func placesOf(books []int8, signatures []string, versions []uint64, parts []string, offsets []uint64) []place {
	places := make([]place, len(versions))
	for i := range places {
		places[i] = place{keyOf(books[i], signatures[i], versions[i]), parts[i], offsets[i]}
	}
	return places
}

// rows reads the records at the places, in their order. A record that changed
// since is missing once a merge has removed the row of the key, unless it is
// remembered.
func (r *Reader) rows(ctx context.Context, places []place) ([]errata.Record, error) {
	known := r.states.known(places)
	if err := r.readUnknown(ctx, places, known, rowsByPlaceStatement); err != nil {
		return nil, err
	}
	// What a merge has moved is not at its place any more.
	if err := r.readUnknown(ctx, places, known, rowsByKeyStatement); err != nil {
		return nil, err
	}
	records := make([]errata.Record, 0, len(places))
	for _, p := range places {
		if record, there := known[p.key]; there {
			records = append(records, record)
		}
	}
	return records, nil
}

func unknown(places []place, known map[key]errata.Record) (rest []place) {
	for _, p := range places {
		if _, there := known[p.key]; !there {
			rest = append(rest, p)
		}
	}
	return rest
}

// readUnknown adds the rows of the places that are not known yet.
func (r *Reader) readUnknown(ctx context.Context, places []place, known map[key]errata.Record, by func([]place) (statement, error)) error {
	if places = unknown(places, known); len(places) == 0 {
		return nil
	}
	q, err := by(places)
	if err != nil {
		return err
	}
	return r.readRows(ctx, q, known)
}

// rowsByPlaceStatement reads the rows that still stand at the places.
func rowsByPlaceStatement(places []place) (statement, error) {
	parts, offsets := make([]string, len(places)), make([]uint64, len(places))
	for i, p := range places {
		parts[i], offsets[i] = p.part, p.offset
	}
	return build("rows_by_place.sql", statementData{}, nil, keySettings(), bind("parts", parts), bind("offsets", offsets))
}

// rowsByKeyStatement reads the rows of the keys, wherever they are.
func rowsByKeyStatement(places []place) (statement, error) {
	signatures := make([]errata.Signature, len(places))
	versions := make([]uint64, len(places))
	for i, p := range places {
		signatures[i], versions[i] = p.signature, uint64(p.version)
	}
	return build("rows_by_key.sql", statementData{}, nil, keySettings(),
		bind("signatures", names(signatures)), bind("versions", versions))
}

// readRows reads rows into a map, and remembers them.
func (r *Reader) readRows(ctx context.Context, q statement, into map[key]errata.Record) error {
	rows, err := r.query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		record, err := scanRecord(rows)
		if err != nil {
			return err
		}
		k := key{record.Book, record.Signature, record.Version}
		into[k] = record
		r.states.put(k, record)
	}
	return rows.Err()
}

// scanRecord reads a row of rows_by_place.sql, rows_by_key.sql or live.sql.
func scanRecord(rows driver.Rows) (errata.Record, error) {
	var column string
	if err := rows.Scan(&column); err != nil {
		return errata.Record{}, fmt.Errorf("read a record: %w", err)
	}
	return packed.Decode(column)
}
