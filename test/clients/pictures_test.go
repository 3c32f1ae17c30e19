package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// pictured are the kinds of errors of which pictures are taken.
var pictured = []string{"nested", "group", "database", "rtl", "huge", "scoped", "minifiedPrice"}

// pictures takes pictures of the records into the folder of ERRATA_SHOTS, if it is set:
//
//	ERRATA_SHOTS=$PWD/shots go test -tags clients -run TestKinds ./test/clients
//
// It needs what the tests of the page need: node, Chromium, the packages of web/.
func (s *service) pictures(t *testing.T) {
	t.Helper()
	folder := os.Getenv("ERRATA_SHOTS")
	if folder == "" {
		return
	}
	env := []string{"ERRATA_URL=" + s.URL, "ERRATA_KEY=" + s.Admin, "ERRATA_DSN=" + s.DSN(t, s.URL)}
	name := strings.ToLower(strings.TrimPrefix(t.Name(), "TestKindsOf"))
	args := append([]string{"testdata/kinds/pictures.mjs", folder, name}, pictured...)
	if r := servicetest.Run(t, env, servicetest.Program(t, "node", "nodejs"), args...); r.Code != 0 {
		t.Errorf("%d %s", r.Code, r.Output)
	}
}
