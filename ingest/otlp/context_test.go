package otlp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest"
)

// list is an array of texts, pairs an object with one text.
func list(texts ...string) string {
	var values []string
	for _, text := range texts {
		values = append(values, str(text))
	}
	return `{"arrayValue":{"values":[` + strings.Join(values, ",") + `]}}`
}

func pairs(key, text string) string {
	return `{"kvlistValue":{"values":[{"key":"` + key + `","value":` + str(text) + `}]}}`
}

// TestAttributesWithoutAField: a plain one is a tag, any other one stands in extra, and a
// long text in both.
func TestAttributesWithoutAField(t *testing.T) {
	long := strings.Repeat("x", ingest.MaxTag+1)
	for attributes, want := range map[string]string{
		attrs("tier", str("gold")):                           ` 1`,
		attrs("cart", list("a", "b")):                        `{"cart":["a","b"]} 0`,
		attrs("who", pairs("a", "b"), "n", `{"intValue":7}`): `{"who":{"a":"b"}} 1`,
		attrs("db.query.text", str(long)):                    `{"db.query.text":"` + long + `"} 1`,
		attrs("raw", `{"bytesValue":"aGk="}`):                `{"raw":"aGk="} 0`,
		attrs("none", `{}`):                                  ` 0`,
		attrs("exception.type", str("E")):                    ` 0`,
	} {
		for _, d := range logDrafts(t, `{"severityNumber":17,`+attributes+`}`) {
			if got := fmt.Sprint(string(d.Context.Extra), " ", len(d.Context.Tags)); got != want {
				t.Errorf("%s: %s, want %s", attributes, got, want)
			}
		}
	}
	var many []string
	for i := range ingest.MaxTags + 2 {
		many = append(many, fmt.Sprint("k", i), str("v"))
	}
	d := logDrafts(t, `{"severityNumber":17,`+attrs(many...)+`}`)[0]
	if got := string(d.Context.Extra); got != `{"k100":"v","k101":"v"}` || len(d.Context.Tags) != ingest.MaxTags {
		t.Errorf("%d tags, extra %s", len(d.Context.Tags), got)
	}
	large := logDrafts(t, `{"severityNumber":17,`+attrs("big", list(strings.Repeat("x", 5*ingest.MaxExtra)), "small", list("a"))+`}`)[0]
	if got := fmt.Sprint(string(large.Context.Extra), large.Context.Lost); got != `{"small":["a"]}[extra]` {
		t.Errorf("%.200s", got)
	}
}

// TestContextOfTheResource: attributes of a resource that have no field are a context, which
// its records share.
func TestContextOfTheResource(t *testing.T) {
	h, recorder := newHandler(t)
	resource := attrs("service.version", str("1.4.2"), "service.name", str("shop"), "telemetry.sdk.name", str("otel"), "telemetry.auto.version", str("1"),
		"host.arch", str("amd64"), "process.command_args", list("shop", "-v"))
	const record = `{"severityNumber":17,"body":{"stringValue":"m"}}`
	w := post(h, "/v1/logs", jsonText, []byte(`{"resourceLogs":[{"resource":{`+resource+`},"scopeLogs":[{"logRecords":[`+record+`,`+record+`]}]},{"scopeLogs":[{"logRecords":[`+record+`]}]}]}`))
	drafts := recorder.Take()
	if w.Code != 200 || len(drafts) != 3 {
		t.Fatalf("%d %s, %d drafts", w.Code, w.Body, len(drafts))
	}
	a, b := drafts[0].Context, drafts[1].Context
	if a.Contexts == nil || a.Contexts != b.Contexts || string(a.Contexts.Raw) != `{"resource":{"host.arch":"amd64","process.command_args":["shop","-v"]}}` || a.Release != "1.4.2" {
		t.Errorf("%+v, %+v", a, b)
	}
	if drafts[2].Context.Contexts != nil {
		t.Errorf("without a resource: %s", drafts[2].Context.Contexts.Raw)
	}
}

// TestExtraOfASpan: an event of a span has the attributes of the span, of which its own
// take the place.
func TestExtraOfASpan(t *testing.T) {
	h, recorder := newHandler(t)
	event := func(own string) string { return `{"name":"exception",` + own + `}` }
	w := post(h, "/v1/traces", jsonText, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"s",`+attrs("cart", list("a"), "flags", list("x"))+`,"events":[`+
		event(attrs("exception.type", str("E"), "cart", list("b")))+`,`+event(attrs("exception.type", str("F")))+`]}]}]}]}`))
	drafts := recorder.Take()
	if w.Code != 200 || len(drafts) != 2 {
		t.Fatalf("%d %s, %d drafts", w.Code, w.Body, len(drafts))
	}
	for i, want := range []string{`{"flags":["x"],"cart":["b"]}`, `{"cart":["a"],"flags":["x"]}`} {
		if got := string(drafts[i].Context.Extra); got != want {
			t.Errorf("event %d: %s, want %s", i, got, want)
		}
	}
}
