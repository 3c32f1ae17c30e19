package api_test

import (
	"net/http"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

func TestWhoami(t *testing.T) {
	b := newBench(t, nil)
	b.logging.now.Development = true
	who := func(n access.NewKey) request {
		_, text := b.create(t, n)
		return request{method: "GET", target: "/api/v1/admin/whoami", key: text, headers: []string{"X-Request-Id: r"}}
	}
	golden(t, "whoami", b.do(who(access.NewKey{
		Kind: access.KindAdmin, Scopes: []access.Scope{"Tools/*", access.KeysManage}, ExpiresAt: start.Add(time.Hour),
	})))
	b.health.alarms = []errata.Alarm{{Name: "log-gap", Detail: "facts 3 to 4 cannot be read", Hint: "errata log verify", Since: start}}
	golden(t, "whoami_ops", b.do(who(access.NewKey{Kind: access.KindOps, NeverExpires: true})))
	golden(t, "whoami_ingest", b.do(who(access.NewKey{Kind: access.KindIngest})))
	if w := b.do(request{method: "GET", target: "/api/v1/admin/whoami"}); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key: got %d, want 401", w.Code)
	}
}
