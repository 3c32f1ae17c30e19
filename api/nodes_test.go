package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// leavers notes which node is to leave.
type leavers struct {
	node    string
	running bool
	err     error
}

func (l *leavers) Leave(_ context.Context, node string, running bool) ([]string, error) {
	l.node, l.running = node, running
	return []string{"a:6222", "b:6222"}, l.err
}

func TestANodeLeaves(t *testing.T) {
	b := newBench(t, nil)
	ask := func(body string) *httptest.ResponseRecorder {
		return b.do(request{
			method: http.MethodPost, target: "/api/v1/admin/ops/nodes/leave", key: b.key(t, access.OpsNodes),
			body: body, headers: []string{"Content-Type: application/json"},
		})
	}
	golden(t, "leave", ask(`{"node":"c:6222","running":true}`))
	if b.nodes.node != "c:6222" || !b.nodes.running {
		t.Errorf("asked for %+v", b.nodes)
	}
	b.nodes.err = errata.Errorf(errata.KindNodeNeeded, "it would lose its majority")
	if w := ask(`{"node":"c:6222"}`); w.Code != http.StatusConflict {
		t.Errorf("a node that is needed: %d", w.Code)
	}
	b.nodes.node = ""
	if w := ask(`{}`); w.Code != http.StatusUnprocessableEntity || b.nodes.node != "" {
		t.Errorf("no node: %d, asked for %q", w.Code, b.nodes.node)
	}
}
