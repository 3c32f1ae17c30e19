package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

// TestAllowIsTrue asks every path of the route table with every method. A method
// that the table does not have is answered 405, and Allow has those that it has:
// also where another path with a parameter would take the method, as
// errors/:signature would take GET errors/cleanup.
func TestAllowIsTrue(t *testing.T) {
	b := newBench(t, nil)
	taken := map[string][]string{}
	for _, r := range api.Routes() {
		taken[r.Path] = append(taken[r.Path], r.Method)
		if r.Method == http.MethodGet {
			taken[r.Path] = append(taken[r.Path], http.MethodHead)
		}
	}
	key := b.key(t, access.Everything)
	for path, methods := range taken {
		slices.Sort(methods)
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if slices.Contains(methods, method) {
				continue // TestWhoMayPass asks these
			}
			for _, key := range []string{key, ""} {
				w := b.do(request{method: method, target: target(api.Route{Path: path}), key: key})
				allow := strings.Split(w.Header().Get("Allow"), ", ")
				slices.Sort(allow)
				if w.Code != http.StatusMethodNotAllowed || code(t, w) != "method_not_allowed" || !slices.Equal(allow, methods) {
					t.Errorf("%s %s: %d, Allow %v, want 405 and %v\n%s", method, path, w.Code, allow, methods, w.Body)
				}
				if !strings.Contains(w.Body.String(), methods[0]) {
					t.Errorf("%s %s: the message does not say %s: %s", method, path, methods[0], w.Body)
				}
			}
		}
	}
}
