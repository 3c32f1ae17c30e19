package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/logcare"
)

// logCare answers as for a damaged log, and notes who accepted the gap.
type logCare struct{ by string }

func sampleGap() logcare.Gap {
	return logcare.Gap{From: 42, To: 43, Why: "missing", LeastEvents: 3, MostEvents: 3, Files: "2.blk", By: "policy"}
}

func (l *logCare) State() logcare.State {
	looked := time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC)
	return logcare.State{Policy: "accept", Open: []logcare.Gap{sampleGap()}, Settled: []logcare.Gap{}, Back: []logcare.Gap{}, Looked: &looked}
}

func (l *logCare) Verify(context.Context) (logcare.Report, error) {
	return logcare.Report{First: 1, Last: 50, Facts: 48, Blocks: 47, Events: 90, Bytes: 4096, Gaps: []logcare.Gap{sampleGap()}}, nil
}

func (l *logCare) Settle(_ context.Context, name string) ([]logcare.Gap, error) {
	l.by = name
	gap := sampleGap()
	gap.By, gap.Name = "operator", name
	return []logcare.Gap{gap}, nil
}

func TestLogCare(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsRead, access.OpsReplay)
	for _, c := range []struct {
		method, path, body string
		status             int
		words              []string
	}{
		{http.MethodGet, "", "", 200, []string{`"policy":"accept"`, `"open":[{"from":42,"to":43,"why":"missing","least_events":3`, `"looked":"2026-11-23T02:00:00`}},
		{http.MethodPost, "/verify", "", 200, []string{`"ok":false`, `"gaps":[{"from":42`, `"files":"2.blk"`}},
		{http.MethodPost, "/accept", `{"by":" Ada "}`, 200, []string{`"by":"operator","name":"Ada"`}},
		{http.MethodPost, "/accept", `{"by":"  "}`, 400, []string{"1 to 100 characters"}},
		{http.MethodPost, "/accept", `{"by":"` + strings.Repeat("a", 101) + `"}`, 400, []string{"1 to 100 characters"}},
	} {
		w := b.do(request{method: c.method, target: "/api/v1/admin/ops/log" + c.path, key: key, body: c.body})
		if w.Code != c.status {
			t.Errorf("%s %s %s: %d %s, want %d", c.method, c.path, c.body, w.Code, w.Body, c.status)
		}
		for _, word := range c.words {
			if !strings.Contains(w.Body.String(), word) {
				t.Errorf("%s %s: %s has no %s", c.method, c.path, w.Body, word)
			}
		}
	}
	if b.care.by != "Ada" {
		t.Errorf("accepted by %q", b.care.by)
	}
}
