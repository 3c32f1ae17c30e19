package migrations_test

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// Occurrences of an older version get the index of their tags, while lists find their
// tags already.
func TestOldOccurrencesGetTheIndexOfTags(t *testing.T) {
	env := testenv.New(t)
	for _, statement := range []string{
		"ALTER TABLE occurrences DROP INDEX ix_tags", "ALTER TABLE occurrences DROP INDEX ix_event",
		"ALTER TABLE occurrences ADD INDEX ix_event_id event_id TYPE bloom_filter(0.01) GRANULARITY 1",
		`INSERT INTO occurrences (book, signature, id, position, event_id, tags, count) SELECT 1, MD5(toString(number)), 1 + number, number, MD5(toString(number)),
			[concat('customer\t', toString(number % 100)), 'handled\tyes'], 1 FROM numbers(100000)`,
		"ALTER TABLE schema_migrations DELETE WHERE version >= 23 SETTINGS mutations_sync = 1",
	} {
		exec(t, env, statement)
	}
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	const (
		tagged = `SELECT count() FROM occurrences WHERE has(tags, 'customer\t77')`
		event  = "SELECT count() FROM occurrences WHERE event_id = MD5('77')"
	)
	find := func(when string) {
		t.Helper()
		if n, one := count(t, env, tagged), count(t, env, event); n != 1000 || one != 1 {
			t.Errorf("%s: %d with the tag and %d with the event id, want 1000 and 1", when, n, one)
		}
	}
	find("before the indexes are written")
	exec(t, env, "ALTER TABLE occurrences MATERIALIZE INDEX ix_tags SETTINGS mutations_sync = 1") // waits for the one before
	find("with the indexes")
	const written = `SELECT count() FROM system.data_skipping_indices
		WHERE database = currentDatabase() AND table = 'occurrences' AND name IN ('ix_tags', 'ix_event') AND data_compressed_bytes > 0`
	if n := count(t, env, written); n != 2 {
		t.Errorf("%d of 2 indexes were written", n)
	}
	if plan := text(t, env, "SELECT arrayStringConcat(groupArray(explain), '\n') FROM (EXPLAIN indexes = 1 "+tagged+")"); !strings.Contains(plan, "ix_tags") {
		t.Errorf("the index of the tags is not used:\n%s", plan)
	}
}
