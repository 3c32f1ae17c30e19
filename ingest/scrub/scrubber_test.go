package scrub_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest/scrub"
)

func own(t *testing.T) *scrub.Scrubber {
	t.Helper()
	x, err := scrub.New(scrub.Additions{
		Keys: []string{"customer-no", "=patient"}, Patterns: []string{`KD-[0-9]{4,8}`, `\bMRN\s[0-9]+`}, QueryAllow: []string{"q", "page"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAdditions(t *testing.T) {
	x := own(t)
	for _, c := range []struct{ text, want string }{
		{"customer_no=17x and customerNo: hunter", "customer_no=[Filtered] and customerNo: [Filtered]"},
		{`{"oldCustomerNo":"17","patient":"Anna","patients":3}`, `{"oldCustomerNo":"[Filtered]","patient":"[Filtered]","patients":3}`},
		{"order of KD-12345 for MRN 77 failed", "order of [Filtered] for [Filtered] failed"},
		{"password=hunter2 for KD-1234", "password=[Filtered] for [Filtered]"},
		{"patient: not found", "patient: not found"},
		{"KD-123 stays", "KD-123 stays"},
	} {
		if got := x.Text(c.text); got != c.want || x.Text(got) != got {
			t.Errorf("Text(%q)\n got %q\nwant %q, and the same again", c.text, got, c.want)
		}
	}
	if got := x.URI("/a/KD-12345?q=shoes&page=2&limit=5"); got != "/a/[Filtered]?q=shoes&page=2&limit=[Filtered]" {
		t.Errorf("URI: %q", got)
	}
	got, err := x.JSON([]byte(`{"customer_no":7,"note":"KD-4711","n":{"MRN 12":1}}`))
	if want := `{"customer_no":"[Filtered]","note":"[Filtered]","n":{"[Filtered]":1}}`; err != nil || string(got) != want {
		t.Errorf("JSON: %s, %v; want %s", got, err, want)
	}
	if _, value, ok := x.Header("Referer", "https://a.example/x?q=1&limit=2"); !ok || value != "/x?q=1&limit=[Filtered]" {
		t.Errorf("Header: %q", value)
	}
	if scrub.SecretKey("customer_no") || scrub.Text("KD-12345") != "KD-12345" {
		t.Error("the default rules have changed")
	}
	var none *scrub.Scrubber
	if none.Text("password=x1") != "password=[Filtered]" || none.URI("/x?page=2&q=1") != "/x?page=2&q=[Filtered]" {
		t.Error("nil is not the default rules")
	}
}

// TestGreedyPatternEnds uses a pattern that matches [Filtered] too.
func TestGreedyPatternEnds(t *testing.T) {
	x, err := scrub.New(scrub.Additions{Patterns: []string{`\w+`, `\[`}})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Text("a [b] password=x"); x.Text(got) != got || len(got) > 100 {
		t.Errorf("%q", got)
	}
}

func TestAdditionsAreChecked(t *testing.T) {
	many := slices.Repeat([]string{"abc"}, 101)
	for _, c := range []struct {
		add  scrub.Additions
		want string
	}{
		{scrub.Additions{Keys: []string{"id"}}, `"id"`},
		{scrub.Additions{Keys: []string{"=--"}}, "letters and digits"},
		{scrub.Additions{Keys: many}, "more than 100"},
		{scrub.Additions{Patterns: []string{"(a"}}, "not RE2"},
		{scrub.Additions{Patterns: []string{`(a)\1`}}, "not RE2"},
		{scrub.Additions{Patterns: []string{"a*"}}, "the empty text"},
		{scrub.Additions{Patterns: []string{strings.Repeat("a", 501)}}, "more than 500 bytes"},
		{scrub.Additions{QueryAllow: []string{"api_token"}}, "secret key"},
		{scrub.Additions{QueryAllow: []string{"a=b"}}, "not the name"},
		{scrub.Additions{Keys: []string{"tenant"}, QueryAllow: []string{"tenant"}}, "secret key"},
	} {
		if _, err := scrub.New(c.add); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.add, err, c.want)
		}
	}
}
