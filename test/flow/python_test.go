package flow

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

// Eleven calls and one uncaught error of a Flask application are twelve occurrences,
// although sentry-python with enable_logs sends most of them twice.
func TestPythonWithLogsCountsOnce(t *testing.T) {
	clock := servicetest.NewClock(at(t, "2026-11-21T03:21:58Z"), time.Microsecond)
	s := start(t, func(o *app.Options) { o.InstallRoots, o.Now = roots, clock.Now })
	for project, name := range map[int]string{601: "enable-logs", 602: "enable-logs-stack"} {
		k := s.newKey(t, project)
		for i, request := range requests(t, "sentry/testdata/python/"+name+".http") {
			if a := s.replay(t, request, k); a.status != http.StatusOK {
				t.Fatalf("%s #%d: %d %s", name, i+1, a.status, a.body)
			}
		}
		var got []string
		for _, r := range s.newRecords(t) {
			got = append(got, fmt.Sprintf("%d %s %s", r.Count, r.ExceptionClass, r.MessagePreview))
		}
		slices.Sort(got)
		want := []string{"1  gone tea", "1  outside", "1  own log 5", "1 ValueError boom", "1 ValueError chained", "2  payment failed for 77", "2 KeyError 'sku'", "3  loop"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
