//go:build clients

package emitters

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

// php runs the PHP application, with or without curl.
func php(t *testing.T, dsn string, curl bool, do ...string) servicetest.Ran {
	t.Helper()
	command := []string{servicetest.Program(t, "php", "php-cli"), "-d", "display_errors=1", "-d", "log_errors=0", "-d", "html_errors=0"}
	if !curl {
		command = append(command, "-d", "disable_functions=curl_init")
	}
	return run(t, dsn, "deploy/emitters/errata.php", append(append(command, "testdata/app.php"), do...)...)
}

func TestPHP(t *testing.T) {
	s := start(t)
	dsn := s.dsn(t)
	if modules := run(t, "", "", servicetest.Program(t, "php", "php-cli"), "-m").Output; !strings.Contains(modules, "curl\n") {
		t.Fatal("PHP has no curl, and the emitter is tested with and without; install it (apt-get install -y php-curl), or run make test-clients")
	}
	t.Run("captured", func(t *testing.T) { phpCaptured(t, s, dsn) })
	t.Run("what nobody catches", func(t *testing.T) { phpUncaught(t, s, dsn) })
	t.Run("other handlers go on", func(t *testing.T) { phpOthers(t, s, dsn) })
	t.Run("without the service", func(t *testing.T) { phpAway(t, s, dsn) })
	for _, curl := range []bool{true, false} {
		// Events that got a failure are sent again and count once.
		s.fail(1)
		r := php(t, dsn, curl, "many")
		same(t, "the end", r.Output, "[the end]\n")
		if curl {
			s.wait(t, "DomainException", 25)
		} else {
			s.wait(t, "DomainException", 50)
		}
	}
}

func phpCaptured(t *testing.T, s *service, dsn string) {
	r := php(t, dsn, false, "capture", "warning", "broken")
	id := strings.Trim(strings.SplitN(r.Output, "\n", 2)[0], "[]")
	if r.Code != 0 || len(id) != 32 || !strings.HasSuffix(r.Output, "[the end]\n") || !strings.Contains(r.Output, "Undefined array key") {
		t.Errorf("%d %s", r.Code, r.Output)
	}
	got := s.wait(t, "OrderError", 1)
	same(t, "book", got.Type, "database") // for the cause
	same(t, "level", got.Level, "error")
	same(t, "message", got.Message, "order 42 failed")
	same(t, "file", got.File, "app.php")
	same(t, "line", got.Line, servicetest.Place(t, "app.php", "order"))
	same(t, "id", got.Payload.EventID, id)
	same(t, "release", got.Payload.Release, "1.4.2")
	same(t, "handled", *got.Payload.Handled, true)
	same(t, "tags", got.Payload.Tags["order"]+got.Payload.Tags["cart"], `42{"tea":2}`)
	chain := got.Payload.Exceptions
	if len(chain) != 2 || chain[0].Class != "PDOException" || chain[1].Class != "OrderError" {
		t.Fatalf("chain %+v", chain)
	}
	same(t, "line of the cause", chain[0].Frames[1].Line, servicetest.Place(t, "app.php", "cause"))
	same(t, "function", chain[1].Frames[1].Function, "load")
	same(t, "outermost function", chain[1].Frames[0].Function, "{main}")
	same(t, "in the application", chain[1].Frames[1].InApp, true)

	got = s.wait(t, "E_WARNING", 1) // and not the one behind an @
	same(t, "level", got.Level, "warning")
	same(t, "message", got.Message, `Undefined array key "tea"`)
	same(t, "line", got.Line, servicetest.Place(t, "app.php", "warning"))
	got = s.wait(t, "LengthException", 1)
	same(t, "message", got.Message, "invalid \ufffd text")
}

func phpUncaught(t *testing.T, s *service, dsn string) {
	r := php(t, dsn, true, "uncaught")
	if r.Code != 255 || !strings.Contains(r.Output, "Fatal error: Uncaught") || !strings.Contains(r.Output, "OrderError: order 50 failed") {
		t.Errorf("PHP does not end as it does without the emitter: %d %s", r.Code, r.Output)
	}
	s.wait(t, "OrderError", 2) // with the captured one
	r = php(t, dsn, true, "memory")
	if r.Code != 255 || !strings.Contains(r.Output, "Allowed memory size") {
		t.Errorf("%d %s", r.Code, r.Output)
	}
	got := s.wait(t, "E_ERROR", 1)
	same(t, "level", got.Level, "fatal")
	same(t, "handled", *got.Payload.Handled, false)
	if !strings.HasPrefix(got.Message, "Allowed memory size") || got.File != "app.php" {
		t.Errorf("%+v", got)
	}
}

func phpOthers(t *testing.T, s *service, dsn string) {
	r := php(t, dsn, true, "before", "warning", "uncaught")
	want := "[their error handler: Undefined array key \"tea\"]\n"
	if r.Code != 255 && r.Code != 0 || !strings.HasPrefix(r.Output, want) || !strings.HasSuffix(r.Output, "[their exception handler: order 50 failed]\n") {
		t.Errorf("%d %s", r.Code, r.Output)
	}
	s.wait(t, "E_WARNING", 2)
	s.wait(t, "OrderError", 3)
}

// The application continues without delay when nobody listens and when nobody
// answers.
func phpAway(t *testing.T, s *service, dsn string) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	defer silent.Close()
	front := strings.TrimPrefix(s.front.URL, "http://")
	for _, curl := range []bool{true, false} {
		for _, address := range []string{silent.Addr().String(), closed.Addr().String()} {
			r := php(t, strings.Replace(dsn, front, address, 1), curl, "capture", "broken")
			if r.Code != 0 || !strings.HasSuffix(r.Output, "[the end]\n") || r.Took > 10*time.Second {
				t.Errorf("%d after %v: %s", r.Code, r.Took, r.Output)
			}
		}
	}
	for _, dsn := range []string{"", "nonsense", "http://host/1"} {
		r := php(t, dsn, true, "capture")
		same(t, "without a DSN", r.Output, "[the DSN is not taken]\n[]\n[the end]\n")
	}
}
