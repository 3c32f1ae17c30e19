package legacy

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
)

// phpLines are single-line entries as PHP writes them, of 50 problems.
func phpLines(n int) []byte {
	var text bytes.Buffer
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&text, "[%s UTC] PHP Warning:  Undefined variable $order%d in /var/www/shop/src/Order/Loader%d.php on line %d\n",
			at.Add(time.Duration(i)*time.Second).Format("02-Jan-2006 15:04:05"), i%50, i%50, 10+i%50)
	}
	return text.Bytes()
}

func BenchmarkParseAndRules(b *testing.B) {
	lines := bytes.SplitAfter(phpLines(1000), newline)
	c := &converter{rules: new(ingest.Rules), project: 1, book: errata.BookSystem, fileHash: "x", now: time.Now}
	src := ingest.Source{Project: 1, Received: time.Now(), Archive: true}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, _, refused := c.event(lines[i%1000], int64(i), src, nil); refused != nil {
			b.Fatal(refused)
		}
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkStream is the import without the log.
func BenchmarkStream(b *testing.B) {
	const lines = 50_000
	text := phpLines(lines)
	c := &converter{rules: new(ingest.Rules), project: 1, book: errata.BookSystem, fileHash: "x", now: time.Now}
	b.ReportAllocs()
	for b.Loop() {
		err := stream(b.Context(), bytes.NewReader(text), eventlog.ImportMark{}, c, discardBlock)
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkImport imports a whole file to a real log.
func BenchmarkImport(b *testing.B) {
	const lines = 100_000
	env := newBench(b)
	n := 0
	for b.Loop() {
		env.put(b, fmt.Sprintf("system/%d.log", n), fmt.Sprintf("[02-Jan-2025 03:04:05 UTC] PHP Notice:  number %d in /x.php on line 1\n%s", n, phpLines(lines-1)))
		if got := env.run(b); got.Events != lines {
			b.Fatalf("imported %+v", got)
		}
		n++
	}
	state, err := eventlog.Inspect(b.Context(), env.log)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(state.Bytes)/float64(b.N*lines), "log-B/line")
	b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds(), "lines/s")
}
