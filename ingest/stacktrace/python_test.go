package stacktrace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

func TestCauses(t *testing.T) {
	f := func(name, text string, want ...string) {
		t.Helper()
		var got []string
		for _, x := range stacktrace.Causes(text) {
			got = append(got, fmt.Sprintf("%s|%s|%d", x.Class, x.Message, len(x.Frames)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	trace := func(line int, raised string) string {
		return fmt.Sprintf("Traceback (most recent call last):\n  File \"/srv/app/shop.py\", line %d, in load\n    load()\n    ^^^^^^\n%s\n", line, raised)
	}
	const direct = "\nThe above exception was the direct cause of the following exception:\n\n"
	const during = "\nDuring handling of the above exception, another exception occurred:\n\n"
	f("none", trace(1, "KeyError: 'sku'"))
	f("no trace", "KeyError: 'sku'")
	f("one", trace(1, "KeyError: 'sku'")+direct+trace(2, "OrderError: 42"), "KeyError|'sku'|1")
	f("two", trace(1, "KeyError")+during+trace(2, "db.Error: a: b")+direct+trace(3, "OrderError: 42"), "KeyError||1", "db.Error|a: b|1")
	f("of several lines", trace(1, "ValueError: first\n  second\n\nthird")+direct+trace(2, "OrderError"), "ValueError|first\n  second\n\nthird|1")
	f("a group", "  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/app/shop.py\", line 3, in all\n  |     raise\n  | ExceptionGroup: many (2 sub-exceptions)\n"+
		"  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/srv/app/other.py\", line 9, in one\n    | ValueError: a\n    +------------------------------------\n"+
		direct+trace(2, "OrderError"), "ExceptionGroup|many (2 sub-exceptions)|1")
	f("nothing was raised", direct+during)
	f("too many", strings.Repeat(trace(1, "E: 1")+during, 2*ingest.MaxExceptions)+trace(2, "E"), slicesOf("E|1|1", ingest.MaxExceptions-1)...)
}

func slicesOf(text string, n int) (list []string) {
	for range n {
		list = append(list, text)
	}
	return list
}
