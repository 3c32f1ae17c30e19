package migrations_test

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// What a search finds in a context, and nothing else of it.
func TestWordsOfAContext(t *testing.T) {
	env := testenv.New(t)
	long := strings.Repeat("Übermaß ", 40) + "end"
	for payload, want := range map[string]string{
		``:                    "",
		`{}`:                  "",
		`not JSON`:            "",
		`{"message":"Short"}`: "",
		`{"message":"` + long + `","tags":{"Tier":"gold"},"extra":{"message":"x"}}`:                                          strings.ToLower(long) + "\n",
		`{"message":"First\n\tsecond"}`:                                                                                      "first  second\n",
		`{"message":" blank"}`:                                                                                               " blank\n",
		`{"message":"Short","exceptions":[{"class":"Thrown","message":"Short"}]}`:                                            "",
		`{"message":"M","exceptions":[{"class":"Cause","message":"Why\nso"},{"module":"m"},{"class":"Thrown"}]}`:             "\ncause\nwhy so",
		`{"message":"M","transaction":"GET /Orders","exceptions":[{"class":"Cause"},{"class":"Thrown"}],"logger":"ignored"}`: "\ncause\nget /orders",
	} {
		exec(t, env, "TRUNCATE TABLE contexts")
		if err := env.ClickHouse.Exec(t.Context(), "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (1, '', 1, ?, 0)", payload); err != nil {
			t.Fatal(err)
		}
		if got := text(t, env, "SELECT words FROM contexts"); got != want {
			t.Errorf("%s\n got %q\nwant %q", payload, got, want)
		}
	}
}

// An id that is a UUID is found with and without dashes; any other is left out.
func TestEventIDOfAContext(t *testing.T) {
	env := testenv.New(t)
	const id = "00112233445566778899AABBCCDDEEFF"
	for sent, want := range map[string]string{
		id: id, strings.ToLower(id): id, "00112233-4455-6677-8899-aabbccddeeff": id, "order-17": "", "": "", id + "0": "", "z" + id[1:]: "",
	} {
		exec(t, env, "TRUNCATE TABLE contexts")
		if err := env.ClickHouse.Exec(t.Context(), "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (1, '', 1, ?, 0)", `{"event_id":"`+sent+`"}`); err != nil {
			t.Fatal(err)
		}
		if got := text(t, env, "SELECT hex(event_id) FROM contexts"); got != want {
			t.Errorf("%s: got %s, want %s", sent, got, want)
		}
	}
}

// Contexts of an older version, without the columns, get them and their indexes, while
// searches find their words already.
func TestOldContextsGetTheirWords(t *testing.T) {
	env := testenv.New(t)
	for _, statement := range []string{
		"ALTER TABLE contexts DROP INDEX ix_words", "ALTER TABLE contexts DROP INDEX ix_event_id",
		"ALTER TABLE contexts DROP COLUMN words", "ALTER TABLE contexts DROP COLUMN event_id",
		`INSERT INTO contexts (book, signature, id, payload, gone) SELECT 1, '', number, concat('{"transaction":"Job ', toString(number), '"}'), 0 FROM numbers(1000)`,
		"ALTER TABLE schema_migrations DELETE WHERE version >= 19 SETTINGS mutations_sync = 1",
	} {
		exec(t, env, statement)
	}
	if err := migrations.ClickHouse(t.Context(), env.ClickHouseOptions()); err != nil {
		t.Fatal(err)
	}
	const found = "SELECT count() FROM contexts WHERE words LIKE '%job 77%'"
	if n := count(t, env, found); n != 11 {
		t.Errorf("%d contexts were found before the columns were written, want 11", n)
	}
	exec(t, env, "ALTER TABLE contexts MATERIALIZE COLUMN words SETTINGS mutations_sync = 1") // waits for the one before
	if n := count(t, env, found); n != 11 {
		t.Errorf("%d contexts were found, want 11", n)
	}
	const written = `SELECT count() FROM system.parts_columns
		WHERE database = currentDatabase() AND table = 'contexts' AND active AND column IN ('words', 'event_id')`
	if n := count(t, env, written); n != 2 {
		t.Errorf("%d of 2 columns were written", n)
	}
	const indexed = "SELECT sum(secondary_indices_compressed_bytes) FROM system.parts WHERE database = currentDatabase() AND table = 'contexts' AND active"
	if n := count(t, env, indexed); n == 0 {
		t.Error("no index was written")
	}
}
