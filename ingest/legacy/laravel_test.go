package legacy

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Laravel writes the number of the user, and what an application adds, before the exception.
func TestLaravelContextBeforeTheException(t *testing.T) {
	const object = `"exception":"[object] (App\\Exceptions\\Boom(code: 0): boom at /var/www/app/Http/Boom.php:12)` + "\n[stacktrace]\n#0 /var/www/app/Run.php(3): App\\\\Boom->go()\n#1 {main}\n\"} "
	for name, c := range map[string]struct{ text, message, user, extra string }{
		"alone":          {`boom {` + object, "boom", "", ""},
		"a user":         {`boom {"userId":1204,` + object, "boom", "1204", ""},
		"a user as text": {`boom {"userId":"u-7",` + object, "boom", "u-7", ""},
		"more":           {`boom {"userId":1204,"tenant":{"name":"a {\"b"},` + object, "boom", "1204", `{"tenant":{"name":"a {\"b"}}`},
		"braces before":  {`boom {7} {"x": of {"userId":1204,` + object, `boom {7} {"x": of`, "1204", ""},
	} {
		var d ingest.Draft
		parseMonolog(c.text, &d)
		if d.Message != c.message || d.UserID != c.user || string(d.Context.Extra) != c.extra ||
			d.Class != `App\Exceptions\Boom` || d.File != "/var/www/app/Http/Boom.php" || d.Line != 12 || len(d.Context.Exceptions[0].Frames) != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	e, _, refused := converterAt(received).event([]byte("[2026-11-21 03:58:25] production.ERROR: boom {\"userId\":1204,"+object), 0, ingest.Source{Project: 1, Received: received, Archive: true}, nil)
	if refused != nil || e.Class != `App\Exceptions\Boom` || e.UserID != 1204 || e.Line != 12 || e.Level != errata.LevelError {
		t.Errorf("%v %+v", refused, e)
	}
}
