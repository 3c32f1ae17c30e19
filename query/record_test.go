package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// TestDetail reads one signature in each of its states: seen, seen again, deleted,
// seen anew with another context.
func TestDetail(t *testing.T) {
	// long: the life of one record is read from top to bottom
	env := testenv.New(t)
	ctx := t.Context()
	if err := env.ClickHouse.Exec(ctx, "SYSTEM STOP MERGES records"); err != nil {
		t.Fatal(err)
	}
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	m := newModel(5)
	first := m.sight()
	first.Book = errata.BookDatabase
	expect := func(step string, want errata.Record, payload string) {
		t.Helper()
		got, gotPayload, err := reader.Detail(ctx, want.Book, want.Signature, query.Projects{})
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if diff := cmp.Diff(want, got, compare...); diff != "" {
			t.Errorf("%s: record (-want +got):\n%s", step, diff)
		}
		if string(gotPayload) != payload {
			t.Errorf("%s: payload %s, want %s", step, gotPayload, payload)
		}
	}
	absent := func(step string, book errata.Book, signature errata.Signature) {
		t.Helper()
		if _, _, err := reader.Detail(ctx, book, signature, query.Projects{}); errata.KindOf(err) != errata.KindNotFound {
			t.Errorf("%s: got %v, want kind %s", step, err, errata.KindNotFound)
		}
	}
	keep := func(r errata.Record, payload string) {
		t.Helper()
		err := env.ClickHouse.Exec(ctx, "INSERT INTO contexts (book, signature, id, payload) VALUES (?, unhex(?), ?, ?)",
			r.Book.String(), r.Signature.String(), uint64(r.ID), payload)
		if err != nil {
			t.Fatal(err)
		}
	}

	absent("before the first sighting", first.Book, first.Signature)
	keep(first, `{"n":1}`)
	absent("context written, record not yet", first.Book, first.Signature)
	insert(ctx, t, env.ClickHouse, []row{{first, 1}})
	expect("first sighting", first, `{"n":1}`)
	absent("other book", errata.BookSystem, first.Signature)
	absent("other signature", first.Book, errata.Signature{})

	again := m.seeAgain(first)
	insert(ctx, t, env.ClickHouse, []row{{first, -1}, {again, 1}})
	expect("seen again", again, `{"n":1}`)

	insert(ctx, t, env.ClickHouse, []row{{again, -1}})
	absent("deleted", first.Book, first.Signature)

	anew := m.sight()
	anew.Book, anew.Signature = first.Book, first.Signature
	keep(anew, `{"n":2}`)
	insert(ctx, t, env.ClickHouse, []row{{anew, 1}})
	expect("seen anew", anew, `{"n":2}`)

	later := m.sight()
	later.Book, later.Signature = first.Book, first.Signature
	keep(later, `{"n":3}`)
	expect("next life's context is there already", anew, `{"n":2}`)

	lost := m.sight()
	insert(ctx, t, env.ClickHouse, []row{{lost, 1}})
	expect("context lost", lost, `{}`)
}
