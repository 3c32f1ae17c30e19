package clients

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getsentry/sentry-go"
)

// stockError is an error with a cause.
type stockError struct {
	hall, orders int
	cause        error
}

func (e stockError) Error() string {
	if e.orders > 0 {
		return fmt.Sprintf("no stock for %d orders", e.orders)
	}
	return fmt.Sprintf("no stock in hall %d", e.hall)
}

func (e stockError) Unwrap() error { return e.cause }

var errPaid = errors.New("already paid")

// goKinds are the ways in which the application in Go fails: it returns an error, panics,
// or sends something itself and returns nil. A fresh map or slice is nil on purpose.
var goKinds = map[string]func(*sentry.Hub) error{
	"nested": func(*sentry.Hub) error { return fmt.Errorf("load order: %w", &orderError{42}) },
	"custom": func(*sentry.Hub) error { return stockError{hall: 7} },
	"chain": func(*sentry.Hub) error {
		return stockError{orders: 3, cause: fmt.Errorf("ask the hall: %w", context.DeadlineExceeded)}
	},
	"joined":   func(*sentry.Hub) error { return errors.Join(errors.New("mail was refused"), errPaid) },
	"severalW": func(*sentry.Hub) error { return fmt.Errorf("two steps: %w, %w", errPaid, &orderError{1}) },
	"sentinel": func(*sentry.Hub) error { return errPaid },
	"database": func(*sentry.Hub) error { return fmt.Errorf("read order: %w", sql.ErrNoRows) },
	"file":     func(*sentry.Hub) error { _, err := os.Open("/no/such/folder/prices.csv"); return err },
	"parse":    func(*sentry.Hub) error { return json.Unmarshal([]byte(`{"price": }`), &struct{}{}) },
	"number":   func(*sentry.Hub) error { _, err := strconv.Atoi("12,5"); return err },
	"refused":  func(*sentry.Hub) error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
	"lookup": func(*sentry.Hub) error {
		return &net.DNSError{Err: "no such host", Name: "bank.example.test", IsNotFound: true}
	},
	"timeout": expired,
	"unicode": func(*sentry.Hub) error { return errors.New("Größe ungültig: 尺寸 🙈 👩‍👩‍👧") },
	"rtl": func(*sentry.Hub) error {
		return errors.New("ההזמנה לא נשמרה כי אין מלאי במחסן")
	},
	"huge": func(*sentry.Hub) error { return errors.New(strings.Repeat("line of a report\n", 2000)) },
	"secret": func(*sentry.Hub) error {
		return fmt.Errorf("login failed: password=%s", strings.Join([]string{"planted", "hunter2"}, "-"))
	},
	"nilMap":   func(*sentry.Hub) error { var m map[string]int; m["tea"]++; return nil },                  //nolint:staticcheck // it panics; HERE nilMap
	"nilField": func(*sentry.Hub) error { var e *orderError; return errors.New(strconv.Itoa(e.number)) },  // it panics; HERE nilField
	"index":    func(*sentry.Hub) error { var s []int; return errors.New(strconv.Itoa(s[len(os.Args)])) }, // HERE index
	"division": func(*sentry.Hub) error {
		var zero int
		return errors.New(strconv.Itoa(1 / zero)) // HERE division
	},
	"assertion": func(*sentry.Hub) error { var v any = "text"; return errors.New(strconv.Itoa(v.(int))) }, //nolint:forcetypeassert // it panics; HERE assertion
	"panicText": func(*sentry.Hub) error { panic("out of order") },                                        // HERE panicText
	"panicWrap": func(*sentry.Hub) error { panic(fmt.Errorf("in a worker: %w", errPaid)) },                // HERE panicWrap
	"warning": func(hub *sentry.Hub) error {
		hub.Scope().SetLevel(sentry.LevelWarning)
		hub.CaptureMessage("the queue is nearly full") // HERE warning
		return nil
	},
	"scoped": scopedError,
}

func expired(*sentry.Hub) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Nanosecond, errors.New("the bank is slow"))
	defer cancel()
	<-ctx.Done()
	return fmt.Errorf("pay: %w", ctx.Err())
}

func scopedError(hub *sentry.Hub) error {
	scope := hub.Scope()
	scope.SetUser(sentry.User{ID: "u-77", Username: "ada", Email: "ada@example.test"})
	scope.SetTag("feature", "checkout")
	scope.SetContext("cart", sentry.Context{"items": 3, "currency": "EUR"})
	for _, step := range []string{"basket", "address", "payment"} {
		hub.AddBreadcrumb(&sentry.Breadcrumb{Category: "step", Message: step + " shown", Level: sentry.LevelInfo}, nil)
	}
	return &orderError{77}
}

// goRecords are the records of goKinds.
var goRecords = []kind{
	{name: "nested", class: "*clients.orderError", message: "load order: order 42 failed", chain: 2, at: "captured"},
	{name: "custom", class: "clients.stockError", message: "no stock in hall 7", at: "captured"},
	{name: "chain", class: "clients.stockError", message: "no stock for 3 orders", chain: 3, at: "captured"},
	{name: "joined", class: "*errors.joinError", message: "mail was refused", chain: 3, at: "captured"},
	{name: "severalW", class: "*clients.orderError", message: "two steps: already paid, order 1 failed", chain: 3, at: "captured"},
	{name: "sentinel", class: "*errors.errorString", message: "already paid", at: "captured"},
	{name: "database", class: "*fmt.wrapError", message: "read order: sql: no rows in result set", chain: 2, at: "captured"},
	{name: "file", class: "*fs.PathError", message: "open /no/such/folder/prices.csv: no such file", chain: 2, at: "captured"},
	{name: "parse", class: "*json.SyntaxError", message: "invalid character '}'", at: "captured"},
	{name: "number", class: "*strconv.NumError", message: `strconv.Atoi: parsing "12,5"`, chain: 2, at: "captured"},
	{name: "refused", class: "*net.OpError", message: "dial tcp 127.0.0.1:1: connect: connection refused", chain: 3, at: "captured"},
	{name: "lookup", class: "*net.DNSError", message: "lookup bank.example.test: no such host", at: "captured"},
	{name: "timeout", class: "context.deadlineExceededError", message: "pay: context deadline exceeded", chain: 2, at: "captured"},
	{name: "unicode", class: "*errors.errorString", message: "Größe ungültig: 尺寸 🙈 👩‍👩‍👧", at: "captured"},
	{name: "rtl", class: "*errors.errorString", message: "ההזמנה לא נשמרה", at: "captured"},
	{name: "huge", class: "*errors.errorString", message: "line of a report", at: "captured"},
	{name: "secret", class: "*errors.errorString", message: "login failed: password=[Filtered]", at: "captured"},
	{name: "nilMap", class: "runtime.plainError", message: "assignment to entry in nil map", level: "fatal"},
	{name: "nilField", class: "runtime.errorString", message: "runtime error: invalid memory address", level: "fatal"},
	{name: "index", class: "runtime.boundsError", message: "runtime error: index out of range", level: "fatal"},
	{name: "division", class: "runtime.errorString", message: "runtime error: integer divide by zero", level: "fatal"},
	{name: "assertion", class: "*runtime.TypeAssertionError", message: "interface conversion: interface {} is string", level: "fatal"},
	{name: "panicText", message: "out of order", level: "fatal"},
	{name: "panicWrap", class: "*fmt.wrapError", message: "in a worker: already paid", level: "fatal", chain: 2},
	{name: "warning", message: "the queue is nearly full", level: "warning"},
	{name: "scoped", class: "*clients.orderError", message: "order 77 failed", at: "captured", user: "u-77"},
}

// TestKindsOfSentryGo: each kind of error of an application in Go has a record that says
// what went wrong, where, and in which request.
func TestKindsOfSentryGo(t *testing.T) {
	s := start(t)
	var paths []string
	for kind := range goKinds {
		paths = append(paths, "/"+kind+"?page=2&token=planted-s3cret")
	}
	serveWithSentry(t, s.DSN(t, s.URL), func(r *http.Request) {
		hub := sentry.GetHubFromContext(r.Context())
		kind := strings.Trim(r.URL.Path, "/")
		hub.Scope().SetTag("kind", kind)
		hub.Scope().SetUser(sentry.User{ID: "1204"})
		hub.AddBreadcrumb(&sentry.Breadcrumb{Category: "shop", Message: "before the failure"}, nil)
		if err := goKinds[kind](hub); err != nil {
			hub.CaptureException(err) // HERE captured
		}
	}, paths...)
	app := failing{
		file: "../kinds_go_test.go", place: "test/clients/kinds_go_test.go", release: "shop@1.4.2", handled: "no",
		uri:      func(kind string) string { return "/" + kind + "?page=2&token=[Filtered]" },
		noSource: true, // the SDK sends no source lines
		kinds:    goRecords,
	}
	if len(app.kinds) != len(goKinds) {
		t.Errorf("%d kinds are expected, the application has %d", len(app.kinds), len(goKinds))
	}
	s.checkKinds(t, app)
	s.checkScoped(t)
}
