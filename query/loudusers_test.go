package query_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// crowd is some records, a reader of them and its clock.
type crowd struct {
	t      *testing.T
	env    *testenv.Env
	live   []errata.Record
	reader *query.Reader
	now    time.Time
}

func newCrowd(t *testing.T, records int) *crowd {
	t.Helper()
	env, m := testenv.New(t), newModel(5)
	insert(t.Context(), t, env.ClickHouse, m.grow(records))
	c := &crowd{t: t, env: env, live: m.live, now: modelDay}
	c.reader = query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse, Now: func() time.Time { return c.now }})
	return c
}

// write writes occurrences of a record, each of the user whose number it has.
func (c *crowd) write(r *errata.Record, from, to int) {
	c.t.Helper()
	if err := c.env.ClickHouse.Exec(c.t.Context(), `INSERT INTO occurrences (book, signature, id, position, number, user_hash, time, received, count)
		SELECT {book:String}, toFixedString(unhex({signature:String}), 16), {id:UInt64}, {id:UInt64} + number, number + 1, number + 1, {day:DateTime64(3)}, {day:DateTime64(3)}, 1
		FROM numbers({from:UInt64}, {n:UInt64})`,
		clickhouse.Named("book", r.Book.String()), clickhouse.Named("signature", r.Signature.String()), clickhouse.Named("id", uint64(r.ID)),
		clickhouse.DateNamed("day", modelDay, clickhouse.MilliSeconds), clickhouse.Named("from", from), clickhouse.Named("n", to-from)); err != nil {
		c.t.Fatal(err)
	}
}

// want compares the users of the first records with those of the list, and with those that
// CountUsers fills in.
func (c *crowd) want(when string, want ...uint64) {
	c.t.Helper()
	list, err := c.reader.Find(c.t.Context(), query.Filter{}, query.Page{})
	if err != nil {
		c.t.Fatal(err)
	}
	listed, counted := map[errata.Position]uint64{}, make([]errata.Record, len(c.live))
	for _, r := range list.Records {
		listed[r.ID] = r.Users
	}
	copy(counted, c.live)
	if err := c.reader.CountUsers(c.t.Context(), counted); err != nil {
		c.t.Fatal(err)
	}
	for i, n := range want {
		if listed[c.live[i].ID] != n || counted[i].Users != n {
			c.t.Errorf("%s: record %d has %d users in the list and %d counted, want %d", when, i, listed[c.live[i].ID], counted[i].Users, n)
		}
	}
}

func (c *crowd) wantDetail(i int, want uint64) {
	c.t.Helper()
	r, _, err := c.reader.Detail(c.t.Context(), c.live[i].Book, c.live[i].Signature, query.Projects{})
	if err != nil || r.Users != want {
		c.t.Errorf("the detail of record %d has %d users, %v, want %d", i, r.Users, err, want)
	}
}

// TestUsersOfALoudRecord: a list counts the users of a loud record again after a time, which grows
// with its occurrences. It counts those of other records each time, and a detail always counts.
func TestUsersOfALoudRecord(t *testing.T) {
	c := newCrowd(t, 3)
	c.write(&c.live[0], 0, query.LoudFrom)
	c.write(&c.live[1], 0, query.LoudFrom-2)
	c.want("at first", query.LoudFrom, query.LoudFrom-2, 0)
	c.write(&c.live[0], query.LoudFrom, query.LoudFrom+1)
	c.write(&c.live[1], query.LoudFrom-2, query.LoudFrom-1)
	c.write(&c.live[2], 0, 2)
	c.want("after another one of each", query.LoudFrom, query.LoudFrom-1, 2)
	c.now = c.now.Add(query.LoudFrom*query.AgePerOccurrence - time.Millisecond)
	c.want("a moment before it is due", query.LoudFrom, query.LoudFrom-1, 2)
	c.now = c.now.Add(2 * time.Millisecond)
	c.want("when it is due", query.LoudFrom+1, query.LoudFrom-1, 2)
	c.write(&c.live[0], query.LoudFrom+1, 300_000)
	c.now = c.now.Add(time.Second)
	c.want("of many", 300_000, query.LoudFrom-1, 2)
	c.write(&c.live[0], 300_000, 300_001)
	c.now = c.now.Add(query.OldestCount - time.Millisecond)
	c.want("for long", 300_000, query.LoudFrom-1, 2)
	c.now = c.now.Add(2 * time.Millisecond)
	c.want("not for ever", 300_001, query.LoudFrom-1, 2)
	c.write(&c.live[0], 300_001, 300_002)
	c.want("again for long", 300_001, query.LoudFrom-1, 2)
	c.wantDetail(0, 300_002)
	c.want("after somebody has looked at it", 300_002, query.LoudFrom-1, 2)
}

// TestUsersOfARecordThatIsSeenAgain: a record that takes the place of a loud one has its own
// users at once.
func TestUsersOfARecordThatIsSeenAgain(t *testing.T) {
	c := newCrowd(t, 3)
	c.write(&c.live[0], 0, 2*query.LoudFrom)
	c.want("of the one before", 2*query.LoudFrom)
	again := c.live[0]
	again.ID, again.Version = errata.PositionOf(900, 0), errata.PositionOf(900, 0)
	insert(t.Context(), t, c.env.ClickHouse, []row{{c.live[0], -1}, {again, 1}})
	c.live[0] = again
	c.want("before its first occurrence is written", 0)
	c.write(&again, 0, 7)
	c.want("of the new one", 7)
}

// TestManyLoudRecords: what is remembered is bounded.
func TestManyLoudRecords(t *testing.T) {
	users := query.NewLoudUsers()
	const records = 3 * query.MaxLoud
	for n := range records {
		users.Add(fmt.Sprint(n), query.LoudFrom, modelDay)
	}
	found := 0
	for n := range records {
		if users.Has(fmt.Sprint(n)) {
			found++
		}
	}
	if found != query.MaxLoud || !users.Has(fmt.Sprint(records-1)) {
		t.Errorf("%d of %d are remembered, want %d and the last one", found, records, query.MaxLoud)
	}
}

// TestUsersOfManyRecords: the users of a page are counted in little memory, also when each of its
// records has many.
func TestUsersOfManyRecords(t *testing.T) {
	const memory = 32 << 20
	for _, page := range []struct{ records, users int }{{100, 20_000}, {25, 80_000}, {1, 1_500_000}} {
		t.Run(fmt.Sprint(page.records), func(t *testing.T) {
			c := newCrowd(t, page.records)
			for i := range c.live {
				c.write(&c.live[i], 0, page.users)
			}
			c.within(memory)
			if err := c.reader.CountUsers(t.Context(), c.live); err != nil {
				t.Fatal(err)
			}
			for i := range c.live {
				if c.live[i].Users != uint64(page.users) {
					t.Errorf("record %d has %d users, want %d", i, c.live[i].Users, page.users)
				}
			}
		})
	}
}
