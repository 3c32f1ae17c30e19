package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// users is how many users the occurrences of records had, of those that are kept, by the
// id of the record. It is counted when a row is shown, because who is a user changes with
// every occurrence that comes, expires or is erased. Where the signatures are known before
// the rows, both are asked for at once.
type users map[errata.Position]uint64

// CountUsers fills in how many users the occurrences of each record had, of those that
// are kept: those of a loud record as they were up to [oldestCount] ago. Errors:
// store_unavailable.
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
	counted, err := r.usersLately(ctx, signatures)
	if err != nil {
		return err
	}
	return r.fill(ctx, records, counted)
}

// usersLately counts the users of all records of the signatures, also of those that are gone.
// Those of loud records may have been counted earlier, so [Reader.fill] must look for records
// that were made since.
func (r *Reader) usersLately(ctx context.Context, signatures []errata.Signature) (users, error) {
	lately, uncounted := r.loud.find(signatures, r.now())
	now, err := r.usersNow(ctx, uncounted)
	maps.Copy(lately, now)
	return lately, err
}

// fill fills in the users of the records. One that is not among the counted either has no
// occurrences or was made since: it is counted now.
func (r *Reader) fill(ctx context.Context, records []errata.Record, counted users) error {
	var since []errata.Signature
	for i := range records {
		if _, there := counted[records[i].ID]; !there && r.loud.has(records[i].Signature) {
			since = append(since, records[i].Signature)
		}
	}
	now, err := r.usersNow(ctx, since)
	if err != nil {
		return err
	}
	maps.Copy(counted, now)
	for i := range records {
		records[i].Users = counted[records[i].ID]
	}
	return nil
}

// usersAtOnce is for how many signatures one query counts the users. The query keeps all users of
// each signature in memory. For pages of 100 records they were once more than the 512 MiB that a
// query of the reader may take: 500 problems had 35 million events then.
const usersAtOnce = 25

// usersNow counts the users of all records of the signatures.
func (r *Reader) usersNow(ctx context.Context, signatures []errata.Signature) (users, error) {
	counted := make(users, len(signatures))
	for some := range slices.Chunk(signatures, usersAtOnce) {
		if err := r.countInto(ctx, counted, some); err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// countInto counts the users of all records of the signatures and adds them to counted.
func (r *Reader) countInto(ctx context.Context, counted users, signatures []errata.Signature) error {
	began := r.now()
	all, err := r.crowds(ctx, signatures, share{0, 1})
	if err != nil {
		return fmt.Errorf("count the users: %w", err)
	}
	for _, of := range all {
		counted[of.id] = of.users
		r.loud.add(of.signature, of.id, of.users, of.occurrences, began)
	}
	return nil
}

// crowd is how many users and occurrences a record has.
type crowd struct {
	signature          errata.Signature
	id                 errata.Position
	users, occurrences uint64
}

// share is the users whose hash, divided by of, leaves number.
type share struct{ number, of uint64 }

// mostShares is into how many parts the users of one record are divided at most. One query can count
// 10 million users, but not 20 million.
const mostShares = 16

// crowds counts those users of all records of the signatures that are in the share. When the query
// needs too much memory, crowds asks twice, each time for half of the signatures. When there is one
// signature left, it asks for half of the users each time.
func (r *Reader) crowds(ctx context.Context, signatures []errata.Signature, of share) ([]crowd, error) {
	all, err := r.crowdsAtOnce(ctx, signatures, of)
	half := len(signatures) / 2
	switch {
	case !needsMemory(err) || half == 0 && of.of == mostShares:
		return all, err
	case half > 0:
		return added(
			func() ([]crowd, error) { return r.crowds(ctx, signatures[:half], of) },
			func() ([]crowd, error) { return r.crowds(ctx, signatures[half:], of) })
	default:
		return added(
			func() ([]crowd, error) { return r.crowds(ctx, signatures, share{of.number, 2 * of.of}) },
			func() ([]crowd, error) { return r.crowds(ctx, signatures, share{of.number + of.of, 2 * of.of}) })
	}
}

// added carries out two counts, one after the other, and adds them up by record.
func added(first, second func() ([]crowd, error)) ([]crowd, error) {
	all, err := first()
	if err != nil {
		return nil, err
	}
	more, err := second()
	for _, of := range more {
		if i := slices.IndexFunc(all, func(c crowd) bool { return c.id == of.id }); i >= 0 {
			all[i].users += of.users
		} else {
			all = append(all, of)
		}
	}
	return all, err
}

func (r *Reader) crowdsAtOnce(ctx context.Context, signatures []errata.Signature, of share) (all []crowd, err error) {
	q, err := usersStatement(signatures, of)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			c         crowd
			signature string
			id        uint64
		)
		if err := row.Scan(&signature, &id, &c.users, &c.occurrences); err != nil {
			return err
		}
		c.signature, c.id = errata.Signature([]byte(signature)), errata.Position(id)
		all = append(all, c)
		return nil
	})
	return all, err
}

func usersStatement(signatures []errata.Signature, of share) (statement, error) {
	return build("users.sql", statementData{}, nil, facetSettings(), bind("signatures", names(signatures)), bind("share", of.number), bind("shares", of.of))
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
