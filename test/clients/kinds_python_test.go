//go:build clients

package clients

import (
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// flaskPackages are those of the shop with Flask.
var flaskPackages = append([]string{"flask==3.1.3"}, pythonPackages...)

func TestKindsOfSentryPython(t *testing.T) {
	s := start(t)
	if r := servicetest.Run(t, []string{"DSN=" + s.DSN(t, s.URL)}, pythonWith(t, flaskPackages...), "testdata/kinds/flaskshop.py"); r.Code != 0 {
		t.Fatalf("%d %s", r.Code, r.Output)
	}
	s.checkKinds(t, failing{
		file: "kinds/flaskshop.py", place: "flaskshop.py", release: "shop@1.4.2", handled: "no",
		uri: func(kind string) string { return "/" + kind + "?page=2&token=[Filtered]" },
		kinds: []kind{
			{name: "nested", class: "OrderError", message: "order 42: no such article", chain: 2},
			{name: "group", class: "ExceptionGroup", message: "two steps failed", chain: 3},
			{name: "context", class: "OrderError", message: "order 7: not a price", chain: 2},
			{name: "coroutine", class: "LookupError", message: "no stock in any hall"},
			{name: "generator", class: "KeyError", message: "'price'"},
			{name: "database", class: "OperationalError", message: "no such table: orders", book: "database"},
			{name: "refused", class: "URLError", message: "<urlopen error [Errno 111] Connection refused>", chain: 2, at: "-"}, // a card's number in the line
			{name: "timeout", class: "TimeoutError", chain: 2},
			{name: "recursion", class: "RecursionError", message: "maximum recursion depth exceeded"},
			{name: "unicode", class: "ValueError", message: "Größe ungültig: 尺寸 🙈 👩‍👩‍👧"},
			{name: "rtl", class: "ValueError", message: "ההזמנה לא נשמרה"},
			{name: "huge", class: "ValueError", message: "line of a report"},
			{name: "secret", class: "PermissionError", message: "login failed: password=[Filtered] card=[Filtered]", at: "-"}, // nor is its line whole
			{name: "custom", class: "OrderError", message: "order 9: already paid"},
			{name: "assertion", class: "AssertionError", message: "the basket is empty"},
			{name: "missing", class: "ModuleNotFoundError", message: "No module named 'shop_that_is_not_installed'"},
			{name: "parse", class: "JSONDecodeError", message: "Expecting value: line 1 column 11"},
			{name: "file", class: "FileNotFoundError", message: "[Errno 2] No such file or directory: '/no/such/folder/prices.csv'"},
			{name: "attribute", class: "AttributeError", message: "'NoneType' object has no attribute 'price'"},
			{name: "division", class: "ZeroDivisionError", message: "division by zero"},
			{name: "silent", class: "RuntimeError"},
			{name: "noted", class: "ValueError", message: "the price is negative"},
			{name: "thread", class: "RuntimeError", message: "the worker died"},
			{name: "logged", message: "payment of order 42 failed"},
			{name: "traced", class: "KeyError", message: "'sku'", handled: "yes"},
			{name: "warning", message: "the queue is nearly full", level: "warning"},
			{name: "scoped", class: "OrderError", message: "order 77: the bank said no", handled: "yes", user: "u-77"},
		},
	})
	s.checkScoped(t)
}

func TestKindsOfOpenTelemetryPython(t *testing.T) {
	s := start(t)
	env := []string{"URL=" + s.URL, "KEY=" + s.Ingest}
	if r := servicetest.Run(t, env, pythonWith(t, otelPackages...), "testdata/kinds/otel.py"); r.Code != 0 {
		t.Fatalf("%d %s", r.Code, r.Output)
	}
	s.checkKinds(t, failing{
		file: "kinds/otel.py", release: "1.4.2", handled: "yes", noSource: true, noCrumbs: true,
		uri: func(kind string) string { return "/" + kind + "?page=2&token=[Filtered]" },
		kinds: []kind{
			{name: "nested", class: "__main__.OrderError", message: "order 42: no such article", chain: 2},
			{name: "group", class: "ExceptionGroup", message: "two steps failed", chain: 3},
			{name: "context", class: "__main__.OrderError", message: "order 7: not a price", chain: 2},
			{name: "coroutine", class: "LookupError", message: "no stock in any hall"},
			{name: "generator", class: "KeyError", message: "'price'"},
			{name: "database", class: "sqlite3.OperationalError", message: "no such table: orders", book: "database"},
			{name: "refused", class: "urllib.error.URLError", message: "<urlopen error [Errno 111] Connection refused>", chain: 2},
			{name: "timeout", class: "TimeoutError", chain: 2},
			{name: "recursion", class: "RecursionError", message: "maximum recursion depth exceeded"},
			{name: "unicode", class: "ValueError", message: "Größe ungültig: 尺寸 🙈 👩‍👩‍👧"},
			{name: "rtl", class: "ValueError", message: "ההזמנה לא נשמרה"},
			{name: "huge", class: "ValueError", message: "line of a report"},
			{name: "secret", class: "PermissionError", message: "login failed: password=[Filtered] card=[Filtered]"},
			{name: "custom", class: "__main__.OrderError", message: "order 9: already paid"},
			{name: "assertion", class: "AssertionError", message: "the basket is empty"},
			{name: "missing", class: "ModuleNotFoundError", message: "No module named 'shop_that_is_not_installed'"},
			{name: "parse", class: "json.decoder.JSONDecodeError", message: "Expecting value: line 1 column 11"},
			{name: "file", class: "FileNotFoundError", message: "[Errno 2] No such file or directory: '/no/such/folder/prices.csv'"},
			{name: "attribute", class: "AttributeError", message: "'NoneType' object has no attribute 'price'"},
			{name: "division", class: "ZeroDivisionError", message: "division by zero"},
			{name: "silent", class: "RuntimeError"},
			{name: "noted", class: "ValueError", message: "the price is negative"},
			{name: "logged", message: "payment of order 42 failed", chain: none, handled: "no", bare: true},
			{name: "traced", class: "KeyError", message: "sku", handled: "no", bare: true, at: "told"},
			{name: "emitted", class: "__main__.OrderError", message: "order 77: the bank said no", level: "fatal", handled: "no", bare: true},
		},
	})
	s.checkScoped(t)
}
