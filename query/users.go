package query

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// users is how many users the occurrences of records had, of those that are kept, by the
// id of the record. It is counted when a row is shown, because who is a user changes with
// every occurrence that comes, expires or is erased. Where the signatures are known before
// the rows, both are asked for at once.
type users map[errata.Position]uint64

// into fills in the users of the records.
func (u users) into(records []errata.Record) {
	for i := range records {
		records[i].Users = u[records[i].ID]
	}
}

// CountUsers fills in how many users the occurrences of each record had, of those that
// are kept. Errors: store_unavailable.
func (r *Reader) CountUsers(ctx context.Context, records []errata.Record) error {
	if err := r.trusting(func() error { return r.countUsers(ctx, records) }); err != nil {
		return r.explain(ctx, "count the users of records", err)
	}
	return nil
}

func (r *Reader) countUsers(ctx context.Context, records []errata.Record) error {
	signatures := make([]errata.Signature, len(records))
	for i := range records {
		signatures[i] = records[i].Signature
	}
	counted, err := r.usersOf(ctx, signatures)
	if err == nil {
		counted.into(records)
	}
	return err
}

// usersOf counts the users of all records of the signatures, also of those that are gone.
func (r *Reader) usersOf(ctx context.Context, signatures []errata.Signature) (users, error) {
	if len(signatures) == 0 {
		return users{}, nil
	}
	q, err := usersStatement(signatures)
	if err != nil {
		return nil, err
	}
	counted := make(users, len(signatures))
	err = r.each(ctx, q, func(row driver.Rows) error {
		var id, n uint64
		err := row.Scan(&id, &n)
		counted[errata.Position(id)] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the users: %w", err)
	}
	return counted, nil
}

func usersStatement(signatures []errata.Signature) (statement, error) {
	return build("users.sql", statementData{}, nil, facetSettings(), bind("signatures", names(signatures)))
}

// atOnce carries out the parts at the same time and waits for all of them, also after an
// error: it takes no longer, and a cancelled query costs the pool a connection.
func atOnce(parts ...func() error) error {
	errs := make([]error, len(parts))
	var others sync.WaitGroup
	for i, part := range parts[1:] {
		others.Go(func() { errs[i+1] = part() })
	}
	errs[0] = parts[0]()
	others.Wait()
	return cmp.Or(errs...)
}
