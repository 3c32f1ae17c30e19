package sentry_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Errors of databases, and an exception group. A group is the error, at the place where it
// was raised; its members are no causes of each other.
func TestRecordedExceptionsOfPython(t *testing.T) {
	h, recorder := newHandler(t)
	for _, rec := range recordings(t, "python/databases-and-group.http") {
		h.ServeHTTP(httptest.NewRecorder(), replay(t, rec))
	}
	var rules ingest.Rules
	var got []string
	for _, d := range recorder.Take() {
		e, refused := rules.Event(&d, ingest.Source{Project: 7, Received: received}, errata.EventID{1})
		if refused != nil {
			t.Fatal(refused)
		}
		got = append(got, fmt.Sprintf("%s %s %s:%d of %d: %.15s", e.Book, e.Class, e.File, e.Line, len(d.Context.Exceptions), e.Message))
	}
	want := []string{
		"database OperationalError db.py:3 of 1: no such table: ", "database OperationalError db.py:6 of 1: connection fail",
		"database UndefinedTable db.py:8 of 1: relation \"order", "system ExceptionGroup db.py:16 of 3: orders failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
