//go:build !race

package otlp_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/errata-log/errata/ingest/door/doortest"
)

// bomb is a request that is expensive on purpose.
type bomb struct {
	name, path, contentType, coding string
	body                            []byte
	want                            int
}

// mib repeats a part up to a size in MiB.
func mib(n int, part []byte) []byte { return bytes.Repeat(part, n<<20/len(part)) }

// inRequest puts the fields of a record or a span into a protobuf request.
func inRequest(fields []byte) []byte { return framed(1, framed(2, framed(2, fields))) }

func pair(key string, value []byte) []byte {
	return append(framed(1, []byte(key)), framed(2, framed(1, value))...)
}

func compressed(t *testing.T, coding string, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := io.WriteCloser(gzip.NewWriter(&out)), error(nil)
	if coding == "zstd" {
		z, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// noise is random bytes, which do not compress.
func noise(n int) []byte {
	out, x := make([]byte, n), uint64(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return out
}

func compressedBombs(t *testing.T) (all []bomb) {
	empty := []byte{0x12, 0} // an empty record, or an unknown field
	for _, coding := range []string{"gzip", "zstd"} {
		var records [][]byte
		for range 64 {
			records = append(records, mib(1, empty))
		}
		all = append(all,
			bomb{"64 MiB of empty fields", "/v1/logs", protobuf, coding, compressed(t, coding, records...), 413},
			bomb{"24 MiB of a field, half noise", "/v1/logs", protobuf, coding, compressed(t, coding, []byte{0x7a, 0x80, 0x80, 0x80, 0x0c}, noise(2<<20), make([]byte, 22<<20)), 413},
			bomb{"64 MiB of blanks", "/v1/traces", jsonText, coding, compressed(t, coding, mib(64, []byte(" "))), 413},
		)
	}
	return append(all,
		bomb{"16 GiB in frames", "/v1/logs", protobuf, "zstd", bytes.Repeat(compressed(t, "zstd", make([]byte, 1<<20)), 16<<10), 413},
		bomb{"a window of 1 TiB", "/v1/logs", protobuf, "zstd", []byte("\x28\xb5\x2f\xfd\x00\xf0\x00\x00\x00"), 413},
		bomb{"21 MiB as they are", "/v1/logs", protobuf, "", mib(21, empty), 413},
	)
}

// nestedBombs are lists in lists, in each place for a value.
func nestedBombs() (all []bomb) {
	wrap := map[string]func([]byte) []byte{
		"arrays": func(v []byte) []byte { return framed(5, framed(1, v)) },
		"pairs":  func(v []byte) []byte { return framed(6, framed(1, append([]byte{0x0a, 0}, framed(2, v)...))) },
	}
	for name, level := range wrap {
		value := []byte{0x18, 1}
		for range 5000 {
			value = level(value)
		}
		all = append(all,
			bomb{name + " in a body", "/v1/logs", protobuf, "", inRequest(append([]byte{0x10, 17}, framed(5, value)...)), 400},
			bomb{name + " in an attribute", "/v1/logs", protobuf, "", inRequest(append([]byte{0x10, 17}, framed(6, append(framed(1, []byte("k")), framed(2, value)...))...)), 400},
			bomb{name + " on a span", "/v1/traces", protobuf, "", inRequest(append(framed(9, append(framed(1, []byte("k")), framed(2, value)...)), framed(11, framed(2, []byte("exception")))...)), 400},
		)
	}
	for name, shape := range map[string][2]string{
		"arrays": {`{"arrayValue":{"values":[`, `]}}`}, "pairs": {`{"kvlistValue":{"values":[{"key":"k","value":`, `}]}}`},
	} {
		for _, depth := range []int{100, 3000, 200_000} {
			value := strings.Repeat(shape[0], depth) + `{}` + strings.Repeat(shape[1], depth)
			all = append(all,
				bomb{name + " in a JSON body", "/v1/logs", jsonText, "", []byte(strings.Replace(oneLog, `{"stringValue":"it broke"}`, value, 1)), 400},
				bomb{name + " on a JSON span", "/v1/traces", jsonText, "", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":` + value + `}],"events":[{"name":"exception"}]}]}]}]}`), 400},
			)
		}
	}
	return all
}

// manyBombs have more records than any real request, or few that share large
// texts.
func manyBombs() (all []bomb) {
	empty := []byte{0x12, 0}
	text := bytes.Repeat([]byte("v"), 4<<10)
	var attributes, resource []byte
	for i := range 100 {
		attributes = append(attributes, framed(9, pair(strings.Repeat("k", 1+i), text))...)
	}
	for _, key := range []string{"service.version", "host.name", "service.name", "os.name", "process.runtime.name"} {
		resource = append(resource, framed(1, pair(key, text))...)
	}
	events := bytes.Repeat(framed(11, framed(2, []byte("exception"))), 19_000)
	records := bytes.Repeat(framed(2, []byte{0x10, 17}), 19_000)
	jsonEvents := strings.Repeat(`{"name":"exception"},`, 19_000) + `{}`
	for path, names := range map[string][3]string{"/v1/logs": {"resourceLogs", "scopeLogs", "logRecords"}, "/v1/traces": {"resourceSpans", "scopeSpans", "spans"}} {
		many := strings.Repeat("{},", 2_000_000) + "{}"
		all = append(all,
			bomb{"millions of empty records", path, protobuf, "", framed(1, framed(2, mib(19, empty))), 413},
			bomb{"millions of empty scopes", path, protobuf, "", framed(1, mib(4, empty)), 413},
			bomb{"millions of empty resources", path, protobuf, "", mib(4, []byte{0x0a, 0}), 413},
			bomb{"millions of empty JSON records", path, jsonText, "", []byte(`{"` + names[0] + `":[{"` + names[1] + `":[{"` + names[2] + `":[` + many + `]}]}]}`), 413},
			bomb{"millions of empty JSON scopes", path, jsonText, "", []byte(`{"` + names[0] + `":[{"` + names[1] + `":[` + many + `]}]}`), 413},
			bomb{"millions of empty JSON resources", path, jsonText, "", []byte(`{"` + names[0] + `":[` + many + `]}`), 413},
		)
	}
	return append(all,
		bomb{"19,000 exceptions that share 400 KiB", "/v1/traces", protobuf, "", inRequest(append(attributes, events...)), 413},
		bomb{"19,000 errors that share a resource of 20 KiB", "/v1/logs", protobuf, "", framed(1, append(framed(1, resource), framed(2, records)...)), 413},
		bomb{"19,000 JSON exceptions that share 400 KiB", "/v1/traces", jsonText, "", []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"exception.message","value":{"stringValue":"` +
			strings.Repeat("m", 400<<10) + `"}}],"events":[` + jsonEvents + `]}]}]}]}`), 413},
		bomb{"millions of empty points", "/v1/metrics", protobuf, "", inRequest(framed(5, mib(19, []byte{0x0a, 0}))), 200},
		bomb{"millions of empty JSON points", "/v1/metrics", jsonText, "", []byte(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[` + strings.Repeat("{},", 2_000_000) + `{}]}}]}]}]}`), 200},
		bomb{"a length of 2^63", "/v1/logs", protobuf, "", append([]byte("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), text...), 400},
		bomb{"a length of 2^31", "/v1/logs", protobuf, "", append([]byte("\x0a\x80\x80\x80\x80\x08"), text...), 400},
		bomb{"20 MiB of the bits of one number", "/v1/logs", protobuf, "", mib(20, []byte{0xff}), 400},
		bomb{"a million quotes", "/v1/logs", jsonText, "", append([]byte(`{"resourceLogs":[`), mib(1, []byte(`"`))...), 400},
	)
}

// maxPeak is how many bytes one request may hold, besides its body as sent.
const maxPeak = 64 << 20

// TestBombs: each is refused with 413 or 400, or is a metrics request, of which
// the points are only counted. None of its errors is taken, and it never holds
// more than maxPeak.
func TestBombs(t *testing.T) {
	// With this setting the heap has almost no garbage.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	h, recorder := newHandler(t)
	highest := uint64(0)
	for _, kind := range []func(*testing.T) []bomb{
		compressedBombs, func(*testing.T) []bomb { return nestedBombs() }, func(*testing.T) []bomb { return manyBombs() },
	} {
		for _, b := range kind(t) {
			began := doortest.CPU()
			code, body, peak := detonate(h, b)
			took := doortest.CPU() - began
			if code != b.want || recorder.Count() != 0 {
				t.Errorf("%s %s as %s: %d %.200q, %d taken; want %d", b.coding, b.name, b.contentType, code, body, recorder.Count(), b.want)
			}
			if peak > maxPeak {
				t.Errorf("%s %s as %s: held %d MiB", b.coding, b.name, b.contentType, peak>>20)
			}
			highest = max(highest, peak)
			t.Logf("%s %s as %s: %d, %d KiB on the wire, %d KiB held, %v", b.coding, b.name, b.contentType, code, len(b.body)>>10, peak>>10, took)
		}
	}
	t.Logf("at most %d MiB held", highest>>20)
}

// detonate sends the bomb and measures the heap until the answer.
func detonate(h http.Handler, b bomb) (code int, body string, peak uint64) {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	before := now.HeapAlloc
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		w := post(h, b.path, b.contentType, b.body, "Content-Encoding", b.coding)
		code, body = w.Code, w.Body.String()
	}()
	for {
		runtime.ReadMemStats(&now)
		if now.HeapAlloc > before {
			peak = max(peak, now.HeapAlloc-before)
		}
		select {
		case <-answered:
			return code, body, peak
		default:
		}
	}
}
