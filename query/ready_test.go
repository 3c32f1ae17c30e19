package query_test

import (
	"errors"
	"net/url"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/testenv"
)

// While no records may be shown, nobody who asks for some gets any.
func TestRecordsThatMayNotBeShown(t *testing.T) {
	env := testenv.New(t)
	why := errata.Errorf(errata.KindStoreUnavailable, "they are catching up")
	var now error
	r := query.New(query.Config{ClickHouse: env.ClickHouse, Ready: func() error { return now }})
	all := func() map[string]error {
		answers := ask(t.Context(), r)
		note := func(what string, err error) { answers[what] = err }
		book, signature, key := errata.BookSystem, errata.Signature{1}, []errata.RecordKey{{Signature: errata.Signature{1}}}
		_, err := r.Trend(t.Context(), book, signature, "", query.Projects{})
		note("trend", err)
		_, err = r.Trends(t.Context(), key, "", query.Projects{})
		note("trends", err)
		_, err = r.ReleaseTrend(t.Context(), book, signature, "", query.Projects{})
		note("releases", err)
		_, err = r.Overview(t.Context(), "", query.Projects{})
		note("overview", err)
		_, err = r.Facets(t.Context(), book, signature, query.Projects{})
		note("facets", err)
		_, err = r.Occurrences(t.Context(), book, signature, url.Values{}, 0, 1, query.Projects{})
		note("occurrences", err)
		_, err = r.Preview(t.Context(), alerts.Rule{}, 0)
		note("preview", err)
		return answers
	}
	for what, err := range all() {
		if err != nil && errata.KindOf(err) != errata.KindNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	now = why
	for what, err := range all() {
		if !errors.Is(err, why) {
			t.Errorf("%s: got %v, want that they are catching up", what, err)
		}
	}
}
