package signature_test

import (
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

// TestSignGolden freezes signature recipe v1. With another value here, every
// problem would get a second record under a new signature. Do not change a value:
// add a recipe v2 with a transition.
func TestSignGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		id   signature.Identity
		want string
	}{
		{"nothing", signature.Identity{}, "225bba011a4a6a63b491c71e33388015"},
		{"system", signature.Identity{Book: errata.BookSystem, Project: 7, Class: "RuntimeException", Place: "src/Cart.php", Template: "order <num> failed"}, "1efd40daece1a0144dccc6567e745e20"},
		{"database", signature.Identity{Book: errata.BookDatabase, Project: 7, Class: "RuntimeException", Place: "src/Cart.php", Template: "order <num> failed"}, "fa936053d32d8b9d34c56f1fc0ce8547"},
		{"other project", signature.Identity{Book: errata.BookSystem, Project: 300, Class: "RuntimeException", Place: "src/Cart.php", Template: "order <num> failed"}, "7bff821cac965c3fa708e23c62416da6"},
		{"message only", signature.Identity{Book: errata.BookSystem, Project: 7, Template: "queue is full"}, "80a5c825a7944628ce5bed688612cf25"},
		{"fingerprint", signature.Identity{Book: errata.BookSystem, Project: 7, Class: "X", Template: "ignored", Fingerprint: []string{"checkout", "timeout"}}, "b3a07779e5d6e73a2f9086e666782a1a"},
		{"not ASCII", signature.Identity{Book: errata.BookSystem, Project: 1, Class: "Größe", Place: "é.php", Template: "日本"}, "d50a26b7c9b4327ad155a45abde31e7c"},
		{"long fields", signature.Identity{Book: errata.BookSystem, Project: 1 << 63, Class: strings.Repeat("C", 128), Place: strings.Repeat("p", 512), Template: strings.Repeat("t", 512)}, "55553abb7f01ae4073295acd65ccc292"},
	} {
		if got := signature.Sign(c.id).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestSignatureOfMessages freezes the recipe as a whole: template, place and
// hash together.
func TestSignatureOfMessages(t *testing.T) {
	sign := func(file, message string) string {
		return signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 7, Class: "E", Place: signature.Place(file), Template: signature.Template(message)}).String()
	}
	const want = "96e6286b67cf92cab1ad0d368054d400"
	for _, c := range []struct{ file, message string }{
		{"/srv/releases/1/a.php", "order 42 of 'bob' failed at 2026-11-21 03:04:05"},
		{"/srv/releases/2/a.php", "order 4711 of 'alice'  failed at 2026-11-22T03:04:05Z\nStack trace:"},
	} {
		if got := sign(c.file, c.message); got != want {
			t.Errorf("%q: %s, want %s", c.message, got, want)
		}
	}
	if got := sign("/srv/releases/1/a.php", "order 42 of 'bob' succeeded"); got == want {
		t.Errorf("another message has the same signature %s", got)
	}
}

// TestSignIsInjective moves a separator through the fields: text that moves from
// one field to the next must change the signature.
func TestSignIsInjective(t *testing.T) {
	const text = "ab\x00M\x02F"
	seen := map[errata.Signature]signature.Identity{}
	add := func(id signature.Identity) {
		s := signature.Sign(id)
		if other, taken := seen[s]; taken {
			t.Fatalf("%+v and %+v have the signature %s", id, other, s)
		}
		seen[s] = id
	}
	for i := 0; i <= len(text); i++ {
		for j := i; j <= len(text); j++ {
			add(signature.Identity{Class: text[:i], Place: text[i:j], Template: text[j:]})
			add(signature.Identity{Fingerprint: []string{text[:i], text[i:j], text[j:]}})
		}
		add(signature.Identity{Fingerprint: []string{text[:i], text[i:]}})
	}
	for project := range uint64(300) {
		add(signature.Identity{Project: project + 1, Book: errata.BookDatabase})
	}
}

func BenchmarkSign(b *testing.B) {
	id := signature.Identity{Book: errata.BookSystem, Project: 7, Class: "RuntimeException", Place: "src/Cart.php", Template: "order <num> failed"}
	b.ReportAllocs()
	for b.Loop() {
		signature.Sign(id)
	}
}

// TestSignOverflowGolden freezes the signatures of overflow records.
func TestSignOverflowGolden(t *testing.T) {
	for _, c := range []struct {
		book    errata.Book
		project uint64
		class   string
		want    string
	}{
		{errata.BookSystem, 1, "", "6f766572666c6f7749bd27813046a63a"},
		{errata.BookDatabase, 1, "", "6f766572666c6f770ef1c8ca6d3ec4c6"},
		{errata.BookSystem, 300, "", "6f766572666c6f77686b84cf4970854e"},
		{errata.BookSystem, 1, "RuntimeException", "6f766572666c6f77450112fa33c70fe6"},
	} {
		got := signature.SignOverflow(c.book, c.project, c.class)
		if got.String() != c.want || !got.Overflow() {
			t.Errorf("%v %d %q: %v, want %s", c.book, c.project, c.class, got, c.want)
		}
	}
	if s := signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 1}); s.Overflow() {
		t.Errorf("the signature of a problem is %v", s)
	}
}
