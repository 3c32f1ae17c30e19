package projector_test

import (
	"fmt"
	"testing"

	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// TestOccurrencesOfManyRemovedRecords: the occurrences of many removed records are deleted in
// several steps, and no others.
func TestOccurrencesOfManyRemovedRecords(t *testing.T) {
	const records, removed, later = 5000, 3000, 4000
	t.Cleanup(projector.SetRecordsTogether(400))
	env := testenv.New(t)
	for _, statement := range []string{
		fmt.Sprintf("INSERT INTO occurrences (book, signature, id, position, number, count) SELECT 'system', MD5(toString(number)), 1 + number, 1 + number, 1, 1 FROM numbers(%d)", records),
		fmt.Sprintf("INSERT INTO latest_contexts (book, signature, id, position) SELECT 'system', MD5(toString(number)), 1 + number, 1 + number FROM numbers(%d)", records),
		fmt.Sprintf("INSERT INTO deployments (book, signature, id, gone, sequence) SELECT 'system', MD5(toString(number)), 1 + number, 1, if(number < %d, 7, 8) FROM numbers(%d)", removed, later),
	} {
		if err := env.ClickHouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	store := projector.NewStore(env.ClickHouse, 0)
	if err := store.RemoveGone(t.Context(), 0, 7); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"occurrences", "latest_contexts"} {
		var left, others uint64
		if err := env.ClickHouse.QueryRow(t.Context(), fmt.Sprintf("SELECT count(), countIf(id > %d) FROM %s", removed, table)).Scan(&left, &others); err != nil {
			t.Fatal(err)
		}
		if want := uint64(records - removed); left != want || others != want {
			t.Errorf("%s has %d rows, %d of records that are to stay, want %d", table, left, others, want)
		}
	}
}
