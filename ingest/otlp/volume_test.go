//go:build !race

package otlp_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
)

// A flood of errors replaces the remembered ones and does not add to them.
func TestPairsForget(t *testing.T) {
	h, recorder := newHandler(t)
	recorder.Discard = true
	flood := func(from int) {
		var records []string
		for n := range 10_000 {
			records = append(records, fmt.Sprintf(`{"timeUnixNano":"%d","severityNumber":17,"traceId":%q,"spanId":"%016x",%s}`, happened, traceID, from+n+1, sighting{"E", "m", 0}.attrs()))
		}
		if w := post(h, "/v1/logs", jsonText, []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[`+strings.Join(records, ",")+`]}]}]}`)); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 8 {
		flood(10_000 * i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
		t.Errorf("80,000 errors left %d MiB", grown>>20)
	} else {
		t.Logf("80,000 errors left %d KiB", grown>>10)
	}
	runtime.KeepAlive(h)
}

func TestDeepAndWideRequestsCostLittle(t *testing.T) {
	wide := bytes.Repeat(framed(6, append(framed(1, []byte("k")), framed(2, []byte{0x0a, 1, 'v'})...)), 500_000)
	jsonDeep := strings.Repeat(`{"arrayValue":{"values":[`, 2000) + strings.Repeat(`]}}`, 2000)
	list := bytes.Repeat(framed(1, []byte{0x18, 1}), 1_000_000)
	pairs := bytes.Repeat(framed(1, append(framed(1, []byte("key")), framed(2, []byte{0x18, 1})...)), 1_000_000)
	logOf := func(body []byte) []byte {
		return framed(1, framed(2, framed(2, append([]byte{0x10, 17}, framed(5, body)...))))
	}
	jsonOf := func(body string) []byte {
		return []byte(strings.Replace(oneLog, `{"stringValue":"it broke"}`, body, 1))
	}
	events := bytes.Repeat(framed(11, framed(2, []byte("exception"))), 300_000)
	const jsonEvent = `{"name":"exception"},`
	for _, c := range []struct {
		name, path, contentType string
		body                    []byte
		want                    int
	}{
		{"64 levels", "/v1/logs", protobuf, deep(64), 200},
		{"65 levels", "/v1/logs", protobuf, deep(65), 400},
		{"deep", "/v1/logs", protobuf, deep(10_000), 400},
		{"500,000 attributes", "/v1/logs", protobuf, framed(1, framed(2, framed(2, append([]byte{0x10, 17}, wide...)))), 200},
		{"a list of a million", "/v1/logs", protobuf, logOf(framed(5, list)), 200},
		{"a million pairs", "/v1/logs", protobuf, logOf(framed(6, pairs)), 200},
		{"300,000 exceptions", "/v1/traces", protobuf, framed(1, framed(2, framed(2, events))), 413},
		{"deep JSON", "/v1/logs", jsonText, jsonOf(jsonDeep), 400},
		{"a JSON list of a million", "/v1/logs", jsonText, jsonOf(`{"arrayValue":{"values":[` + strings.Repeat(`{"intValue":1},`, 1_000_000) + `{}]}}`), 200},
		{"a long JSON text", "/v1/logs", jsonText, jsonOf(str(strings.Repeat("é", 2<<20))), 200},
		{"300,000 JSON exceptions", "/v1/traces", jsonText, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[` + strings.Repeat(jsonEvent, 300_000) + `{}]}]}]}]}`), 413},
	} {
		h, recorder := newHandler(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := doortest.CPU()
		w := post(h, c.path, c.contentType, c.body)
		took := doortest.CPU() - began
		runtime.ReadMemStats(&after)
		drafts := recorder.Take()
		if w.Code != c.want || (len(drafts) == 1) != (c.want == 200) {
			t.Errorf("%s: %d %q, %d drafts", c.name, w.Code, w.Body, len(drafts))
		}
		for _, d := range drafts {
			if len(d.Message) > 2*ingest.MaxMessage || len(d.Context.Tags) > ingest.MaxTags {
				t.Errorf("%s: a message of %d bytes, %d tags", c.name, len(d.Message), len(d.Context.Tags))
			}
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MiB allocated", c.name, n>>20)
		}
		t.Logf("%s: %d KiB on the wire, %d KiB allocated, %v", c.name, len(c.body)>>10, (after.TotalAlloc-before.TotalAlloc)>>10, took)
	}
}
