package stacktrace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

// shown writes a line for each frame, oldest first. Frames of the application have a
// star.
func shown(frames []ingest.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		mark := " "
		if f.InApp {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s%s:%d %s|%s\n", mark, f.File, f.Line, f.Module, f.Function)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	f := func(name, text, place string, want ...string) {
		t.Helper()
		frames, at := stacktrace.Parse(text)
		if diff := cmp.Diff(strings.Join(want, "\n")+"\n", shown(frames)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := fmt.Sprintf("%s:%d", at.File, at.Line); got != place {
			t.Errorf("%s: at %s, want %s", name, got, place)
		}
	}
	f("Go", "goroutine 1 [running]:\ngo.opentelemetry.io/otel/sdk/trace.recordStackTrace(...)\n\t/go/pkg/mod/go.opentelemetry.io/otel/sdk@v1.47.0/trace/span.go:527\n"+
		"shop/cart.(*Cart).Load(0x17515d53d4a0, {0xc07f00, 0x17})\n\t/srv/app/cart/cart.go:53 +0x16ec\nnet/http.HandlerFunc.ServeHTTP(...)\n\t/usr/local/go/src/net/http/server.go:2286\n"+
		"main.main()\n\t/srv/app/main.go:12 +0x1f\ncreated by main.run in goroutine 7\n\t/srv/app/run.go:9 +0x20\n",
		"/srv/app/cart/cart.go:53",
		"*/srv/app/run.go:9 main|run", "*/srv/app/main.go:12 main|main", " /usr/local/go/src/net/http/server.go:2286 net/http|HandlerFunc.ServeHTTP",
		"*/srv/app/cart/cart.go:53 shop/cart|(*Cart).Load",
		" /go/pkg/mod/go.opentelemetry.io/otel/sdk@v1.47.0/trace/span.go:527 go.opentelemetry.io/otel/sdk/trace|recordStackTrace")
	f("Go, a panic", "goroutine 1 [running]:\npanic({0x1f743a0?, 0x392ddf0?})\n\truntime/panic.go:860 +0x13a\nmain.main()\n\tmain.go:3\n",
		"main.go:3", "*main.go:3 main|main", " runtime/panic.go:860 runtime|panic")
	f("Go, -trimpath", "goroutine 1 [running]:\ninternal/runtime/maps.fatal(...)\n\tinternal/runtime/maps/table.go:265\ngithub.com/lib/pq.(*conn).exec(0x1)\n\tgithub.com/lib/pq@v1.10.9/conn.go:9 +0x1\n"+
		"example.com/shop/cart.Load(0x1)\n\texample.com/shop/cart/cart.go:53 +0x1\nnet/http.HandlerFunc.ServeHTTP(...)\n\tnet/http/server.go:2286\n",
		"example.com/shop/cart/cart.go:53",
		" net/http/server.go:2286 net/http|HandlerFunc.ServeHTTP", "*example.com/shop/cart/cart.go:53 example.com/shop/cart|Load",
		" github.com/lib/pq@v1.10.9/conn.go:9 github.com/lib/pq|(*conn).exec", " internal/runtime/maps/table.go:265 internal/runtime/maps|fatal")
	f("V8", "TypeError: x is not a function\n    at Object.load (/srv/app/cart.js:6:26)\n    at async /srv/app/main.js:13:13\n    at new Shop (file:///srv/app/shop.mjs:3:9)\n"+
		"    at /srv/app/node_modules/express/lib/router.js:47:5\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n    at Array.map (<anonymous>)\n",
		"/srv/app/cart.js:6",
		" node:internal/process/task_queues:95 |process.processTicksAndRejections", " /srv/app/node_modules/express/lib/router.js:47 |",
		"*file:///srv/app/shop.mjs:3 |new Shop", "*/srv/app/main.js:13 |", "*/srv/app/cart.js:6 |Object.load")
	f("Python, a group", "  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/app/shop.py\", line 35, in all\n  |     raise ExceptionGroup(\"many\", [a, b])\n"+
		"  | ExceptionGroup: many (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/srv/app/other.py\", line 9, in one\n"+
		"    | ValueError: a\n    +---------------- 2 ----------------\n    | TypeError: b\n    +------------------------------------\n",
		"/srv/app/shop.py:35", "*/srv/app/shop.py:35 |all")
	f("Java", "java.lang.IllegalStateException: order 42\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:233)\n\tat com.shop.cart.Cart.load(Cart.java:17)\n"+
		"\tat com.shop.Main.main(Main.java:5)\n\tat java.base/jdk.internal.Native.run(Native Method)\nCaused by: java.io.IOException: disk\n\tat com.shop.Disk.read(Disk.java:99)\n\t... 2 more\n",
		"com/shop/cart/Cart.java:17",
		"*com/shop/Main.java:5 com.shop.Main|main", "*com/shop/cart/Cart.java:17 com.shop.cart.Cart|load", " java/util/Objects.java:233 java.util.Objects|requireNonNull")
	f("Python, chained", "Traceback (most recent call last):\n  File \"/srv/app/t.py\", line 11, in load\n    {}['sku']\nKeyError: 'sku'\n\nDuring handling of the above exception, another exception occurred:\n\n"+
		"Traceback (most recent call last):\n  File \"/srv/app/t.py\", line 18, in app\n    load(42)\n  File \"/usr/lib/python3.11/site-packages/lib.py\", line 3, in call\n    f()\nOrderError: order 42 failed\n",
		"/srv/app/t.py:18",
		"*/srv/app/t.py:18 |app", " /usr/lib/python3.11/site-packages/lib.py:3 |call")
	f("PHP", "PHP Fatal error:  Uncaught RuntimeException: order 42 failed in /srv/app/src/Cart.php:17\nStack trace:\n#0 /srv/app/vendor/lib/Pool.php(8): App\\Cart->load(42)\n"+
		"#1 [internal function]: App\\run()\n#2 /srv/app/public/index.php(5): App\\Kernel->handle(Object(App\\Request), 'secret')\n#3 {main}\n  thrown in /srv/app/src/Cart.php on line 17",
		"/srv/app/src/Cart.php:17",
		"*/srv/app/public/index.php:5 |App\\Kernel->handle", " /srv/app/vendor/lib/Pool.php:8 |App\\Cart->load", "*/srv/app/src/Cart.php:17 |")
	f(".NET", "System.InvalidOperationException: order 42\n   at System.Linq.ThrowHelper.Throw() in /_/src/Linq.cs:line 9\n   at Shop.Cart.Load(Int32 id) in C:\\app\\Cart.cs:line 17\n   at Shop.Main()\n",
		"C:\\app\\Cart.cs:17",
		"*C:\\app\\Cart.cs:17 |Shop.Cart.Load", " /_/src/Linq.cs:9 |System.Linq.ThrowHelper.Throw")
	f("Ruby", "/srv/app/cart.rb:17:in `load': order 42 failed (OrderError)\n\tfrom /usr/lib/ruby/gems/3.1.0/gems/rack.rb:5:in `call'\n\tfrom /srv/app/main.rb:3:in `<main>'\n",
		"/srv/app/cart.rb:17",
		"*/srv/app/main.rb:3 |<main>", " /usr/lib/ruby/gems/3.1.0/gems/rack.rb:5 |call", "*/srv/app/cart.rb:17 |load")
}

func TestWhatIsNoTraceGivesNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "it broke", "at", "at ", "at (", "at x(", "#", "#0", `File "`, `File "x", line `, "a\n\tb.go:", "a\n\tb.go:x", ".php:", " in .php:1x", ".rb:", "at x in y:line "} {
		if frames, at := stacktrace.Parse(text); len(frames) != 0 || at.Known {
			t.Errorf("%q: %s", text, shown(frames))
		}
	}
}

// Of a trace of any length the first and last 25 frames are kept, in order. The place
// is found among all frames.
func TestLongTracesKeepBothEnds(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 74, 75, 76, 100, 12345} {
		var trace stacktrace.Trace
		for i := range n {
			trace.Add(ingest.Frame{File: "f", Line: int64(i), InApp: i == n/2})
		}
		frames := trace.Frames()
		if len(frames) != min(n, ingest.MaxFrames) || trace.Seen() != n {
			t.Fatalf("%d frames: kept %d, seen %d", n, len(frames), trace.Seen())
		}
		for i, f := range frames {
			want := int64(i)
			if n > ingest.MaxFrames && i >= ingest.MaxFrames/2 {
				want = int64(n - ingest.MaxFrames + i)
			}
			if f.Line != want {
				t.Fatalf("%d frames: frame %d is %d, want %d", n, i, f.Line, want)
			}
		}
		if at := trace.Place(); n > 0 && at.Line != int64(n/2) {
			t.Errorf("%d frames: at %d, want %d", n, at.Line, n/2)
		}
	}
}

func TestWhatIsALibraryInGo(t *testing.T) {
	for _, f := range []struct {
		file, module string
		want         bool
	}{
		{"/srv/app/main.go", "main", false},
		{"main.go", "main", false},
		{"example.com/shop@v1.4.2/main.go", "main", false},
		{"/srv/app@v2/cart/cart.go", "example.com/shop/cart", false},
		{"/srv/log/log.go", "log", false},
		{"/srv/src/shop/cart.go", "shop", false},
		{"/build/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go", "github.com/lib/pq", true},
		// A library function inlined into one of the application has that one's name.
		{"/build/go/pkg/mod/github.com/getsentry/sentry-go@v0.50.0/http/sentryhttp.go", "example.com/shop", true},
		{"github.com/lib/pq@v1.10.9/conn.go", "github.com/lib/pq", true},
		{"/srv/app/vendor/github.com/lib/pq/conn.go", "github.com/lib/pq", true},
		{"/opt/go/src/net/http/server.go", "net/http", true},
		{"net/http/server.go", "net/http", true},
		{"net/http/server.go", "net/http.HandlerFunc", true},
		{"internal/runtime/maps/table.go", "internal/runtime/maps", true},
		{"/usr/local/go/src/runtime/panic.go", "runtime", true},
		{"/srv/app/node_modules/go/index.js", "go", false},
		{"", "", false},
	} {
		if got := stacktrace.GoLibrary(f.file, f.module); got != f.want {
			t.Errorf("%q of %q: %v", f.file, f.module, got)
		}
	}
}

// If an SDK marks no frame of Go as in_app, the frames outside of libraries are. If it
// marks one, the others do not change.
func TestGoFramesOfTheApplicationWithoutAnSDK(t *testing.T) {
	handler := ingest.Frame{File: "example.com/shop/cart/cart.go", Line: 7, Module: "example.com/shop/cart"}
	inside := ingest.Frame{File: "example.com/shop/tax/tax.go", Line: 8, Module: "example.com/shop/tax"}
	library := ingest.Frame{File: "net/http/server.go", Line: 9, Module: "net/http"}
	var trace stacktrace.Trace
	for _, f := range []ingest.Frame{library, handler, inside, library} {
		trace.Add(f)
	}
	if at := trace.Place(); at.File != inside.File || at.Line != 8 {
		t.Errorf("at %v", at)
	}
	want := " net/http/server.go:9 net/http|\n*example.com/shop/cart/cart.go:7 example.com/shop/cart|\n*example.com/shop/tax/tax.go:8 example.com/shop/tax|\n net/http/server.go:9 net/http|\n"
	if frames := trace.Frames(); frames[1].InApp || frames[2].InApp {
		t.Errorf("%+v", frames)
	}
	if got := shown(trace.JudgedFrames()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	trace.Clear()
	handler.InApp = true
	trace.Add(handler)
	trace.Add(inside)
	if at := trace.Place(); at.Line != 7 {
		t.Errorf("at %v", at)
	}
	if frames := trace.JudgedFrames(); frames[1].InApp {
		t.Errorf("%+v", frames)
	}
	trace.Clear()
	trace.Add(ingest.Frame{File: "a.js", Line: 1})
	trace.Add(ingest.Frame{File: "b.js", Line: 2})
	if at := trace.Place(); at.Line != 2 || trace.JudgedFrames()[0].InApp || trace.JudgedFrames()[1].InApp {
		t.Errorf("at %v in %+v", at, trace.Frames())
	}
}

func FuzzParse(f *testing.F) {
	f.Add("goroutine 1 [running]:\nmain.main()\n\t/srv/app/main.go:66 +0x1b1f\n")
	f.Add("    at Object.load (/srv/app/cart.js:6:26)\n\tat a.b.C.d(E.java:5)\nCaused by:")
	f.Add("Traceback (most recent call last):\n  File \"t.py\", line 11, in load\n#0 /a.php(12): b()\n/x.rb:1:in `y'")
	for _, name := range groupNames {
		f.Add(recordedGroup(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkChain(t, text)
		frames, at := stacktrace.Parse(text)
		if len(frames) > ingest.MaxFrames || at.Known != (len(frames) > 0) {
			t.Errorf("%d frames, place %v", len(frames), at)
		}
		for _, f := range frames {
			if !strings.Contains(text, f.Function) || f.Line < 0 {
				t.Errorf("frame %v is not out of the text", f)
			}
		}
	})
}
