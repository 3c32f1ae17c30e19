package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/packed"
)

var (
	//go:embed sql/erase_count.sql
	sqlEraseCount string
	//go:embed sql/erase_records.sql
	sqlEraseRecords string
	//go:embed sql/erase_contexts.sql
	sqlEraseContexts string
)

// erasedText replaces an address in a text.
const erasedText = "[erased]"

// noText is a pattern that matches no text: a word cannot end between two letters.
const noText = `a\ba`

// erasure says whose data is removed, in the forms that records and contexts have.
type erasure struct {
	users     []string // as in contexts
	ids       []int64  // the users that are numbers, as in records
	addresses []netip.Addr
	// inText finds the addresses in texts, nil without addresses.
	inText *regexp.Regexp
}

// newErasure checks the body. It refuses the values with which records say that
// user or address are unknown.
func newErasure(body eventlog.Erase) (*erasure, error) {
	e := &erasure{}
	for _, user := range body.Users {
		id, err := strconv.ParseInt(user, 10, 64)
		if user == "" || err == nil && id == 0 {
			return nil, fmt.Errorf("%q is no user", user)
		}
		e.users = append(e.users, user)
		if err == nil {
			e.ids = append(e.ids, id)
		}
	}
	var forms []string
	for _, text := range body.Addresses {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Unmap().IsUnspecified() {
			return nil, fmt.Errorf("%q is no address", text)
		}
		addr = addr.Unmap().WithZone("")
		e.addresses = append(e.addresses, addr)
		forms = append(forms, formsOf(addr)...)
	}
	if len(e.users)+len(e.addresses) == 0 {
		return nil, errors.New("it names no user and no address")
	}
	if len(forms) > 0 {
		e.inText = regexp.MustCompile("(?i)" + strings.Join(forms, "|"))
	}
	return e, nil
}

// formsOf returns patterns for the ways to write an address. The pattern of 1.2.3.4
// does not match in 11.2.3.4.
func formsOf(addr netip.Addr) []string {
	if addr.Is4() {
		return []string{`\b` + regexp.QuoteMeta(addr.String()) + `\b`}
	}
	var forms []string
	for _, text := range []string{addr.String(), addr.StringExpanded()} {
		form := regexp.QuoteMeta(text)
		if !strings.HasPrefix(text, ":") {
			form = `\b` + form
		}
		if !strings.HasSuffix(text, ":") {
			form += `\b`
		}
		forms = append(forms, form)
	}
	return forms
}

// of returns the record without the data, with the position of the command as its
// version. theirs says that the first event came from one of the persons; otherwise
// only its texts contain their addresses.
func (e *erasure) of(r errata.Record, theirs bool, at errata.Position) errata.Record {
	if theirs {
		r.UserID, r.IP = 0, netip.Addr{}
	}
	if e.inText != nil {
		r.Message = e.inText.ReplaceAllString(r.Message, erasedText)
		r.URI = e.inText.ReplaceAllString(r.URI, erasedText)
	}
	r.Version = at
	return r
}

// args are the arguments of the statements, for a range of signatures.
func (e *erasure) args(c *sweepChunk) []any {
	addresses := make([]string, len(e.addresses))
	for i, addr := range e.addresses {
		addresses[i] = netip.AddrFrom16(addr.As16()).String()
	}
	// Never nil: the driver binds nil as NULL.
	users, ids := append([]string{}, e.users...), append([]int64{}, e.ids...)
	return append(c.rangeArgs(), clickhouse.Named("users", users), clickhouse.Named("ids", ids),
		clickhouse.Named("addresses", addresses), clickhouse.Named("pattern", e.pattern()))
}

// pattern finds the addresses in texts, none without addresses.
func (e *erasure) pattern() string {
	if e.inText == nil {
		return noText
	}
	return e.inText.String()
}

// eraseChunks returns how many inserts an erasure takes.
func (s *Store) eraseChunks(ctx context.Context, e *erasure) (int, error) {
	records, err := one[uint64](gently(ctx), s, "count what is to be erased", sqlEraseCount, e.args(sweep{}.chunk(0, 1))...)
	return chunksOf(records, chunkSize), err
}

// erasable returns the changes of an erasure to the records in the range.
func (s *Store) erasable(ctx context.Context, e *erasure, c *sweepChunk, at errata.Position) (changes []change, err error) {
	err = s.each(gently(ctx), "find what is to be erased", func(rows driver.Rows) error {
		var column string
		var theirs bool
		if err := rows.Scan(&column, &theirs); err != nil {
			return err
		}
		old, err := packed.Decode(column)
		now := e.of(old, theirs, at)
		changes = append(changes, change{key: recordKey{old.Book, old.Signature}, old: &old, now: &now})
		return err
	}, sqlEraseRecords, e.args(c)...)
	return changes, err
}

// eraseContexts empties the contexts of the records in the range that the command
// at the position has changed. A repeat writes the same rows.
func (s *Store) eraseContexts(ctx context.Context, c *sweepChunk, at errata.Position) error {
	args := append(c.rangeArgs(), clickhouse.Named("version", uint64(at)))
	if err := s.conn.Exec(gently(ctx), sqlEraseContexts, args...); err != nil {
		return fmt.Errorf("empty the contexts that are erased: %w", err)
	}
	return nil
}

// erasing is the work of an erasure. The contexts of a chunk are emptied after its
// records were changed: only the context may say whose a record is. The version of a
// record says that it was changed, so a crash in between does no harm.
func (s *Store) erasing(cmd *command) chunkWork {
	return chunkWork{
		chunks: func(ctx context.Context) (int, error) { return s.eraseChunks(ctx, cmd.erasure) },
		before: func(ctx context.Context) error {
			if err := s.eraseLatest(ctx, cmd.erasure, cmd.position()); err != nil {
				return err
			}
			return s.eraseOccurrences(ctx, cmd.erasure, cmd.position())
		},
		changes: func(ctx context.Context, c *sweepChunk) ([]change, error) {
			return s.erasable(ctx, cmd.erasure, c, cmd.position())
		},
		after: func(ctx context.Context, c *sweepChunk) error { return s.eraseContexts(ctx, c, cmd.position()) },
	}
}
