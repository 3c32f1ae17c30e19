//go:build clients

package emitters

import (
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

func node(t *testing.T, dsn string, do ...string) servicetest.Ran {
	t.Helper()
	command := append([]string{servicetest.Program(t, "node", "nodejs"), "testdata/app.mjs"}, do...)
	return run(t, dsn, "deploy/emitters/errata.mjs", command...)
}

func TestNode(t *testing.T) {
	s := start(t)
	dsn := s.dsn(t)
	t.Run("captured", func(t *testing.T) { nodeCaptured(t, s, dsn) })
	t.Run("what nobody catches", func(t *testing.T) { nodeUncaught(t, s, dsn) })
	t.Run("odd values", func(t *testing.T) {
		r := node(t, dsn, "odd")
		same(t, "output", r.Output, "2 dropped\nthe end\n")
		got := s.wait(t, "AggregateError", 1)
		same(t, "cause", got.Payload.Exceptions[0].Class, "RangeError")
	})
	t.Run("again and once", func(t *testing.T) {
		s.fail(2)
		r := node(t, dsn, "many")
		same(t, "output", r.Output, "the end\n")
		s.wait(t, "SyntaxError", 60)
	})
	t.Run("without the service", func(t *testing.T) {
		away := strings.Replace(dsn, strings.TrimPrefix(s.front.URL, "http://"), "127.0.0.1:1", 1)
		r := node(t, away, "capture")
		if r.Code != 0 || !strings.HasSuffix(r.Output, "the end\n") || r.Took > 10*time.Second {
			t.Errorf("%d after %v", r.Code, r.Took)
		}
		if r := node(t, "nonsense", "capture"); r.Code != 1 || !strings.Contains(r.Output, "Invalid URL") {
			t.Errorf("an invalid DSN: %d %s", r.Code, r.Output)
		}
	})
}

func nodeCaptured(t *testing.T, s *service, dsn string) {
	r := node(t, dsn, "capture")
	id, rest, _ := strings.Cut(r.Output, " ")
	if r.Code != 0 || len(id) != 32 || rest != "null\nthe end\n" { // the same error again is not sent
		t.Errorf("%d %s", r.Code, r.Output)
	}
	got := s.wait(t, "OrderError", 1)
	same(t, "book", got.Type, "system")
	same(t, "level", got.Level, "error")
	same(t, "message", got.Message, "order 42 failed")
	same(t, "file", got.File, "app.mjs")
	same(t, "line", got.Line, servicetest.Place(t, "app.mjs", "order"))
	same(t, "id", got.Payload.EventID, id)
	same(t, "release", got.Payload.Release, "1.4.2")
	same(t, "handled", *got.Payload.Handled, true)
	same(t, "tags", got.Payload.Tags["order"]+got.Payload.Tags["cart"], `42{"tea":2}`)
	chain := got.Payload.Exceptions
	if len(chain) != 2 || chain[0].Class != "TypeError" || chain[1].Class != "OrderError" {
		t.Fatalf("chain %+v", chain)
	}
	last := chain[0].Frames[len(chain[0].Frames)-1]
	same(t, "line of the cause", last.Line, servicetest.Place(t, "app.mjs", "cause"))
	same(t, "function", last.Function, "load")
	same(t, "in the application", last.InApp, true)
}

func nodeUncaught(t *testing.T, s *service, dsn string) {
	r := node(t, dsn, "reject")
	if r.Code != 1 || !strings.Contains(r.Output, "EvalError: nobody waits") || strings.Contains(r.Output, "the end") {
		t.Errorf("node does not end as it does without the emitter: %d %s", r.Code, r.Output)
	}
	got := s.wait(t, "EvalError", 1)
	same(t, "level", got.Level, "fatal")
	same(t, "handled", *got.Payload.Handled, false)
	same(t, "origin", got.Payload.Tags["origin"], "unhandledRejection")
	if r = node(t, dsn, "throw"); r.Code != 1 || !strings.Contains(r.Output, "order 50 failed") || !strings.Contains(r.Output, "no tea") {
		t.Errorf("node does not end as it does without the emitter: %d %s", r.Code, r.Output)
	}
	s.wait(t, "OrderError", 2)
	r = node(t, dsn, "others")
	same(t, "with another handler", r.Output, "their handler: theirs, too\nthe end\n")
	s.wait(t, "URIError", 1)
}
