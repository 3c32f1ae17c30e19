package projector_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// TestErasureAmongManyRecords: an erasure of few occurrences takes little memory, however many
// records there are.
func TestErasureAmongManyRecords(t *testing.T) {
	const memory = 48 << 20
	env := testenv.New(t)
	for _, statement := range []string{
		`INSERT INTO records (book, signature, id, version, count, sign) SELECT 'system', MD5(toString(number)), 1 + number, 1 + number, 1, 1 FROM numbers(500000)`,
		`INSERT INTO occurrences (book, signature, id, position, number, user_hash, user, count)
			SELECT 'system', MD5(toString(number)), 1 + number, 1 + number, 1, 1 + number % 1000, if(number < 1000, concat('user ', toString(number % 1000)), ''), 1 FROM numbers(500000)`,
	} {
		if err := env.ClickHouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	store := projector.NewStore(env.OpenWithin(memory), 0)
	if err := store.EraseOccurrences(t.Context(), []string{"user 5", "user 77"}, errata.PositionOf(1<<40, 0)); err != nil {
		t.Fatal(err)
	}
	var named, theirs, others uint64
	if err := env.ClickHouse.QueryRow(t.Context(), "SELECT countIf(user IN ('user 5', 'user 77')), countIf(user_hash IN (6, 78)), countIf(user_hash != 0) FROM occurrences").
		Scan(&named, &theirs, &others); err != nil {
		t.Fatal(err)
	}
	if named != 0 || theirs != 0 || others != 499_000 {
		t.Errorf("%d occurrences with the names of the users and %d with their hashes are left, and %d of others, want 0, 0 and 499000", named, theirs, others)
	}
}
