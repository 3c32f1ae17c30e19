package scrub_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/ingest/scrub"
)

var uriGolden = []struct{ raw, want string }{
	{"/checkout?token=secret&page=2", "/checkout?token=[Filtered]&page=2"},
	{"/checkout?page=2&token=secret", "/checkout?page=2&token=[Filtered]"},
	{"https://user:pass@shop.example:8443/checkout?token=secret&page=2#top", "/checkout?token=[Filtered]&page=2"},
	{"/checkout?token=[Filtered]&page=2", "/checkout?token=[Filtered]&page=2"},
	{"/checkout?token=%5BFiltered%5D&page=%5BFiltered%5D", "/checkout?token=[Filtered]&page=[Filtered]"},
	{"/a?page=2&limit=10&sort=name&order=last_seen&direction=desc&lang=de-AT&tab=x&view=y", "/a?page=2&limit=10&sort=name&order=last_seen&direction=desc&lang=de-AT&tab=x&view=y"},
	{"/a?q=&b&c=1", "/a?q=&b&c=[Filtered]"},
	{"/a?page=1;token=s3cr3t", "/a?page=1;token=[Filtered]"},
	{"/a?p%61ge=2", "/a?p%61ge=[Filtered]"},
	{"/a?page=eyJhbGciOiJIUzI1NiJ9.eyJ", "/a?page=[Filtered]"},
	{"/a?page=a b<script>", "/a?page=[Filtered]"},
	{"/a?" + strings.Repeat("f", 40), "/a?[Filtered]"},
	{"/a?" + strings.Repeat("0f", 20) + "=1", "/a?[Filtered]=[Filtered]"},
	{"/reset/0123456789abcdef0123456789abcdef/x", "/reset/[Filtered]/x"},
	{"/orders/507f1f77bcf86cd799439011", "/orders/507f1f77bcf86cd799439011"},
	{"/orders/550e8400-e29b-41d4-a716-446655440000", "/orders/550e8400-e29b-41d4-a716-446655440000"},
	{"/in/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln/x", "/in/[Filtered]/x"},
	{"/a;jsessionid=0A1B2C;v=/b", "/a;jsessionid=[Filtered];v=/b"},
	{"/a?x=1?y=2", "/a?x=[Filtered]"},
	{"//evil.example/x?y=1", "/x?y=[Filtered]"},
	{"https://h", "/"},
	{"https://h?x=1", "/?x=[Filtered]"},
	{"https://h//x//y", "/x//y"},
	{"", ""}, {"/", "/"}, {"*", "*"}, {"checkout?a=1", "checkout?a=[Filtered]"}, {"?a=1", "?a=[Filtered]"},
	{"mailto:bob@example.com", ""}, {"javascript:alert(1)", ""}, {"data:text/plain;base64,aGk=", ""}, {"bob:pass@host/x", ""},
	{"/#x?token=1", "/"},
}

func TestURI(t *testing.T) {
	for _, c := range uriGolden {
		if got := scrub.URI(c.raw); got != c.want {
			t.Errorf("URI(%q) = %q, want %q", c.raw, got, c.want)
		}
	}
}

func checkURI(t failer, raw string) {
	t.Helper()
	once := scrub.URI(raw)
	if twice := scrub.URI(once); twice != once {
		t.Fatalf("not idempotent for %q:\n once %q\ntwice %q", raw, once, twice)
	}
	if strings.Contains(once, "#") {
		t.Fatalf("URI(%q) = %q has a fragment", raw, once)
	}
}

func TestURIIsIdempotent(t *testing.T) {
	uriPieces := append([]string{"https:", "//", "h", "?", "#", "page=2", "page=", "x=", "%5BFiltered%5D", ";", "=", "&", "0123456789abcdef0123456789abcdef"}, pieces...)
	rapid.Check(t, func(t *rapid.T) {
		checkURI(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(uriPieces), 0, 12).Draw(t, "pieces"), ""))
	})
}

// TestNoQueryValueSurvives plants a value under each key that is not on the
// allow-list.
func TestNoQueryValueSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9_%.\[\]-]{1,12}`).Draw(t, "key")
		if strings.Contains(" page limit sort order direction lang tab view ", " "+key+" ") {
			// reason: rapid then draws another key
			t.Skip("allowed")
		}
		prefix := rapid.SampledFrom([]string{"/a?", "https://u:p@h/a?page=1&", "/a?x=&", "?", "/a?b;"}).Draw(t, "prefix")
		if got := scrub.URI(prefix + key + "=" + planted + "&page=3#" + planted); strings.Contains(got, planted) || !strings.HasSuffix(got, "&page=3") {
			t.Fatalf("key %q: %q", key, got)
		}
	})
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		name, value, wantName, wantValue string
		ok                               bool
	}{
		{"user-agent", "curl/8.0", "User-Agent", "curl/8.0", true},
		{"REFERER", "https://u:p@shop.example/a?token=x&page=1#f", "Referer", "/a?token=[Filtered]&page=1", true},
		{"X-Request-Id", "Bearer 0a1b2c3d4e5f", "X-Request-Id", "Bearer [Filtered]", true},
		{"Authorization", "Bearer x", "", "", false},
		{"Cookie", "a=b", "", "", false},
		{"X-Forwarded-For", "192.0.2.1", "", "", false},
		{"X-Something", "x", "", "", false},
		{"", "x", "", "", false},
		{strings.Repeat("a", 1<<20), "x", "", "", false},
	} {
		name, value, ok := scrub.Header(c.name, c.value)
		if name != c.wantName || value != c.wantValue || ok != c.ok {
			t.Errorf("Header(%.20q, %q) = %q, %q, %v, want %q, %q, %v", c.name, c.value, name, value, ok, c.wantName, c.wantValue, c.ok)
		}
	}
}

func BenchmarkURI(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		scrub.URI("https://shop.example/checkout/42?token=secret&page=2&session=abc")
	}
}
