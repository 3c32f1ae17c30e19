package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/datadir"
)

// Both logs are off until they are switched on, and then an entry of each is
// taken and written while the service runs.
func TestModuleAndQueryLogs(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	defer stop()
	keys := keyFiles(t, o.Data)
	ingest, admin := keys[datadir.IngestKeyFile], keys[datadir.AdminKeyFile]
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
		if status, body := request(t, http.MethodPut, a.Welcome().URL+"/api/v1/admin/tools/logs/settings", admin, `{"module_log":1,"query_logging":1}`); status != http.StatusOK {
			t.Fatalf("switch on: %d %s", status, body)
		}
	}
	awaitMetric(t, a, `errata_exchange_written_total{log="modules"} 1`, `errata_exchange_written_total{log="queries"} 1`)
}
