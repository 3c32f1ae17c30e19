package query_test

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// within makes queries fail that need more memory. They may take longer than in the service.
func (c *crowd) within(memory uint64) {
	c.reader = query.New(query.Config{ClickHouse: c.env.OpenWithin(memory)})
	c.reader.SetSeconds(60)
}

// exec carries out a statement about a record.
func (c *crowd) exec(statement string, r *errata.Record, n int) {
	c.t.Helper()
	if err := c.env.ClickHouse.Exec(c.t.Context(), statement, clickhouse.Named("signature", r.Signature.String()), clickhouse.Named("id", uint64(r.ID)),
		clickhouse.Named("book", r.Book.String()), clickhouse.DateNamed("day", modelDay, clickhouse.MilliSeconds), clickhouse.Named("n", n)); err != nil {
		c.t.Fatal(err)
	}
}

// TestListsOfManyRecordsInOneScope: a list by environment or by tag has an answer when nearly all
// records match, though their ids need more memory than a query may take. The test has about a
// seventh of 10 M records, and a sixth of the memory that a query has in the service.
func TestListsOfManyRecordsInOneScope(t *testing.T) {
	const others, memory = 1_500_000, 80 << 20
	query.SetGroupMemory(t, memory/8)
	c := newCrowd(t, 3)
	for i := range c.live {
		c.exec(`INSERT INTO deployments (book, signature, id, environment, count, first_seen, last_seen)
			SELECT {book:String}, toFixedString(unhex({signature:String}), 16), {id:UInt64}, 'production', {n:UInt64}, {day:DateTime64(3)}, {day:DateTime64(3)}`, &c.live[i], 10+i)
		c.exec(`INSERT INTO occurrences (book, signature, id, position, number, time, received, tags, count)
			SELECT {book:String}, toFixedString(unhex({signature:String}), 16), {id:UInt64}, {id:UInt64} + number, number + 1, {day:DateTime64(3)}, {day:DateTime64(3)}, ['os\tlinux'], 1
			FROM numbers({n:UInt64})`, &c.live[i], 10+i)
	}
	c.exec(`INSERT INTO deployments (book, signature, id, environment, count, first_seen, last_seen)
		SELECT 'system', MD5(toString(number)), 1000000000 + number, 'production', 2, {day:DateTime64(3)} - 1, {day:DateTime64(3)} - 1 FROM numbers({n:UInt64})`, &c.live[0], others)
	c.exec(`INSERT INTO occurrences (book, signature, id, position, number, time, received, tags, count)
		SELECT 'system', MD5(toString(number)), 1000000000 + number, number, 1, {day:DateTime64(3)} - 1, {day:DateTime64(3)} - 1, ['os\tlinux'], 1 FROM numbers({n:UInt64})`, &c.live[0], others)
	c.within(memory)
	tags := []errata.Tag{{Key: "os", Value: "linux"}}
	for name, f := range map[string]query.Filter{
		"environment":                {Environments: query.Names{"production"}},
		"environment, at least 2":    {Environments: query.Names{"production"}, MinOccurrence: 2},
		"environment, since the day": {Environments: query.Names{"production"}, From: modelDay.AddDate(0, 0, -2)},
		"tag":                        {Tags: tags},
		"tag, since the day":         {Tags: tags, From: modelDay.AddDate(0, 0, -2), To: modelDay},
	} {
		list, err := c.reader.Find(t.Context(), f, query.Page{Order: query.OrderCount, Limit: 3})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if list.Total != others+3 || len(list.Records) != 3 {
			t.Errorf("%s: %d of %d records, want 3 of %d", name, len(list.Records), list.Total, others+3)
		}
		for i, r := range list.Records {
			if want := &c.live[2-i]; r.ID != want.ID || r.Signature != want.Signature || r.Count != uint64(12-i) {
				t.Errorf("%s: record %d has id %d and count %d, want %d and %d", name, i, r.ID, r.Count, want.ID, 12-i)
			}
		}
	}
}

// TestFacetsOfALoudRecord: the facets of a record have an answer when each of its occurrences has
// a user and a tag of its own. The users are counted exactly.
func TestFacetsOfALoudRecord(t *testing.T) {
	const occurrences, memory = 1_500_000, 32 << 20
	c := newCrowd(t, 1)
	loud := c.live[0]
	loud.Count, loud.Version = occurrences, loud.Version+1
	insert(t.Context(), t, c.env.ClickHouse, []row{{c.live[0], -1}, {loud, 1}})
	c.exec(`INSERT INTO occurrences (book, signature, id, position, number, time, received, user_hash, user, tags, count)
		SELECT {book:String}, toFixedString(unhex({signature:String}), 16), {id:UInt64}, {id:UInt64} + number, number + 1, {day:DateTime64(3)}, {day:DateTime64(3)},
			number + 1, concat('user ', toString(number + 1)), ['os\tlinux', concat('order\t', toString(number + 1))], 1
		FROM numbers({n:UInt64})`, &loud, occurrences)
	c.within(memory)
	facets, err := c.reader.Facets(t.Context(), loud.Book, loud.Signature, query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	if facets.Users != occurrences || len(facets.TopUsers) != 10 {
		t.Errorf("%d users, the first %d listed, want %d and 10", facets.Users, len(facets.TopUsers), occurrences)
	}
	if os, orders := facets.Tags["os"], facets.Tags["order"]; len(os) != 1 || os[0].Count < 1000 || len(orders) != 10 {
		t.Errorf("got %v and %v", os, orders)
	}
}
