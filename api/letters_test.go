package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest/natsin"
)

// letters are 30, of which the second was cut.
type letters struct{ called string }

func (l *letters) List(_ context.Context, after uint64, limit int) (list []natsin.Letter, total uint64, err error) {
	for id := after + 1; id <= 30 && len(list) < limit; id++ {
		list = append(list, natsin.Letter{
			ID: id, At: errata.Instant(start), Subject: "errors.v1.system", Reason: errata.KindInvalidBody,
			Why: "the event is not valid JSON", Body: "not <JSON>", Cut: id == 2,
		})
	}
	return list, 30, nil
}

func (l *letters) Replay(_ context.Context, ids []uint64) (int, []natsin.LetterNote, error) {
	l.called = fmt.Sprint("replay ", ids, ids == nil)
	if slices.Contains(ids, 2) {
		return len(ids) - 1, []natsin.LetterNote{{ID: 2, Why: "it was cut"}}, nil
	}
	return len(ids), nil, nil
}

func (l *letters) Drop(_ context.Context, ids []uint64) (int, []natsin.LetterNote, error) {
	l.called = fmt.Sprint("drop ", ids, ids == nil)
	if ids == nil {
		return 0, nil, errata.Errorf(errata.KindLogUnavailable, "NATS is away.")
	}
	if slices.Contains(ids, 0) { // no message has this id
		return len(ids) - 1, []natsin.LetterNote{{ID: 0, Why: "there is no such message"}}, nil
	}
	return len(ids), nil, nil
}

func TestLetters(t *testing.T) {
	l := &letters{}
	b := newBench(t, func(c *api.Config) { c.Letters = l })
	key := b.key(t, access.OpsReplay)
	const dead = "/api/v1/admin/ops/dead"
	for _, test := range []struct {
		method, path, body string
		status             int
		want, called       string
	}{
		{"GET", "?limit=2", "", 200, `"meta":{"next_cursor":2,"limit":2,"total":30}`, ""},
		{"GET", "", "", 200, `"next_cursor":25,"limit":25`, ""},
		{"GET", "?cursor=25", "", 200, `"next_cursor":0`, ""},
		{"GET", "?limit=1&cursor=1", "", 200, `{"id":2,"at":"`, ""},
		{"GET", "?limit=101", "", 422, "invalid_limit", ""},
		{"GET", "?cursor=0", "", 422, "invalid_cursor", ""},
		{"POST", "/replay", `{"ids":[1,2]}`, 200, `{"left":[{"id":2,"reason":"it was cut"}],"replayed":1}`, "replay [1 2] false"},
		{"POST", "/replay", `{"all":true}`, 200, `{"left":[],"replayed":0}`, "replay [] true"},
		{"POST", "/drop", `{"ids":[0]}`, 200, `{"dropped":0,"left":[{"id":0,"reason":"there is no such message"}]}`, "drop [0] false"},
		{"POST", "/drop", `{"ids":[7]}`, 200, `{"dropped":1,"left":[]}`, "drop [7] false"},
		{"POST", "/drop", `{"all":true}`, 503, "log_unavailable", "drop [] true"},
		{"POST", "/drop", `{}`, 400, "either", ""},
		{"POST", "/drop", "", 400, "either", ""},
		{"POST", "/drop", `{"ids":[]}`, 400, "either", ""},
		{"POST", "/drop", `{"ids":[1],"all":true}`, 400, "either", ""},
		{"POST", "/drop", `{"ids":[-1]}`, 400, "invalid_body", ""},
		{"POST", "/drop", `{"ids":[7,null]}`, 400, "The field ids[] holds a JSON null where a whole number, not negative belongs", ""},
		{"POST", "/drop", `{"ids":[1` + strings.Repeat(",1", 1000) + `]}`, 400, "1000", ""},
	} {
		l.called = ""
		w := b.do(request{method: test.method, target: dead + test.path, key: key, body: test.body})
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) || l.called != test.called {
			t.Errorf("%s %s %.40s: %d %.300s, called %q; want %d with %s, called %q", test.method, test.path, test.body, w.Code, w.Body, l.called, test.status, test.want, test.called)
		}
	}
	without := newBench(t, func(c *api.Config) { c.Letters = nil })
	if w := without.do(request{method: "GET", target: dead, key: without.key(t, access.OpsReplay)}); w.Code != http.StatusNotFound {
		t.Errorf("without a way in: %d %s", w.Code, w.Body)
	}
}
