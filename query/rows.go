package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
)

// key names one live row. All three fields are necessary: one command gives many
// records the same version, and the table may still hold other states of a
// record.
type key struct {
	book      errata.Book
	signature errata.Signature
	version   errata.Position
}

func keyOf(book int8, signature string, version uint64) key {
	return key{errata.Book(book), errata.Signature([]byte(signature)), errata.Position(version)}
}

// rows reads the records of the keys, in the order of the keys. A record that has
// changed since is missing once a merge has removed the row of its key.
func (r *Reader) rows(ctx context.Context, keys []key) ([]errata.Record, error) {
	records := make([]errata.Record, 0, len(keys))
	if len(keys) == 0 {
		return records, nil
	}
	q, err := rowsStatement(keys)
	if err != nil {
		return nil, err
	}
	found := make(map[key]errata.Record, len(keys))
	err = r.each(ctx, q, func(row driver.Rows) error {
		record, err := scanRecord(row)
		if err != nil {
			return err
		}
		found[key{record.Book, record.Signature, record.Version}] = record
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if record, there := found[k]; there {
			records = append(records, record)
		}
	}
	return records, nil
}

// rowsStatement reads the rows of the keys.
func rowsStatement(keys []key) (statement, error) {
	versions := make([]uint64, len(keys))
	for i, k := range keys {
		versions[i] = uint64(k.version)
	}
	return build("rows.sql", statementData{}, nil, keySettings(),
		bind("signatures", names(signaturesIn(keys))), bind("versions", versions))
}

func signaturesIn(keys []key) []errata.Signature {
	signatures := make([]errata.Signature, len(keys))
	for i, k := range keys {
		signatures[i] = k.signature
	}
	return signatures
}

// scanRecord reads a row of rows.sql or live.sql.
func scanRecord(rows driver.Rows) (errata.Record, error) {
	var column string
	if err := rows.Scan(&column); err != nil {
		return errata.Record{}, fmt.Errorf("read a record: %w", err)
	}
	return packed.Decode(column)
}
