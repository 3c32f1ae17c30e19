package app_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/exchange"
)

// Both logs are off until they are switched on, and then an entry of each is
// taken and written while the service runs.
func TestModuleAndQueryLogs(t *testing.T) {
	o := testOptions(t)
	var on atomic.Bool
	o.Exchanges = func() exchange.Switches { return exchange.Switches{ModuleLog: on.Load(), QueryLog: on.Load()} }
	a := build(t, o)
	stop := run(t, a)
	defer stop()
	ingest := keyFiles(t, o.Data)[app.IngestKeyFile]
	post := func(log, entry, recorded string) {
		t.Helper()
		status, body := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/logs/"+log, ingest, entry)
		if status != http.StatusOK || !strings.Contains(body, recorded) {
			t.Fatalf("%s: %d %s, want %s", log, status, body, recorded)
		}
	}
	for _, recorded := range []string{`"recorded":0`, `"recorded":1`} {
		post("modules", `{"module":"payment"}`, recorded)
		post("queries/", `{"query":"SELECT 1"}`, recorded)
		on.Store(true)
	}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(visibleTimeout)
	for {
		_, metrics := get(t, a.Welcome().URL+"/metrics", "")
		if strings.Contains(metrics, `errata_exchange_written_total{log="modules"} 1`) && strings.Contains(metrics, `errata_exchange_written_total{log="queries"} 1`) {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("after %v the entries are not written:\n%s", visibleTimeout, metrics)
		}
	}
}
