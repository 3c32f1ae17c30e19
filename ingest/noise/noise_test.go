package noise_test

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/ingest/noise"
	"github.com/errata-log/errata/projects"
)

// event is a sighting with a value in each field.
func event() noise.Sighting {
	return noise.Sighting{
		Class: "Redis\\ConnectionError", Message: "Verbindung zu ÄPFEL-3 abgelehnt\n100% of 7 tries", File: "src/App/Cart.php",
		Sent: "https://cdn.example/src/App/Cart.php", Release: "shop@1.4.2", UserAgent: "Mozilla/5.0 (X11; Linux x86_64)", Logger: "app.healthz",
		IP: netip.MustParseAddr("10.0.0.15"),
	}
}

func TestOneRule(t *testing.T) {
	for _, c := range []struct {
		field, match string
		want         bool
	}{
		{"class", "connectionerror", true},
		{"class", "REDIS*ERROR", true},
		{"class", "error*redis", false},
		{"class", `Redis\`, true},
		{"class", "Cart", false}, // of another field
		{"message", "äpfel-*abgelehnt", true},
		{"message", "Äpfel-* ABGELEHNT*7 tries", true},
		{"message", "abgelehnt 100", false},
		{"message", "100%", true},
		{"message", "1_0%", false}, // no other characters stand for any
		{"message", ".*", false},
		{"message", "**zu****apfel", false},
		{"message", "**zu****äpfel**", true},
		{"message", "zu *zu", false}, // a part does not count twice
		{"file", "app/cart", true},
		{"file", "cdn.example/src", true}, // as it was sent
		{"file", "https://*.php", true},
		{"file", `app\cart`, false},
		{"release", "shop@1.4.", true},
		{"release", "shop@1.5", false},
		{"user_agent", "linux", true},
		{"user_agent", "bot", false},
		{"logger", "*.healthz", true},
		{"logger", "*.health ", false},
		{"ip", "10.0.0.15", true},
		{"ip", "10.0.0.1", false}, // an address is whole
		{"ip", "0.0.0.15", false},
		{"ip", "::ffff:10.0.0.15", true},
		{"ip", "10.0.0.0/8", true},
		{"ip", "11.0.0.0/8", false},
		{"ip", "10.0.*", true},
		{"ip", "0.0.*", false},
		{"ip", "*.15", true},
		{"ip", "*.1", false},
		{"ip", "10.*.15", true},
		{"ip", "10.*.0.0.15", false},
		{"ip", "*0.0.15*", true},
		{"ip", "2001:db8::/32", false},
		{"level", "error", false},
	} {
		s := event()
		got := noise.Compile([]projects.Rule{{Field: c.field, Match: c.match, Action: "drop"}}).Decide(&s)
		if got != (noise.Verdict{Drop: c.want}) {
			t.Errorf("%s %q: %+v, want %v", c.field, c.match, got, c.want)
		}
	}
}

// TestAnEmptySightingMatchesNothing: a field without a value is not a text.
func TestAnEmptySightingMatchesNothing(t *testing.T) {
	var rules []projects.Rule
	for _, field := range projects.Fields {
		rules = append(rules, projects.Rule{Field: field, Match: "*0*", Action: "drop"})
	}
	rules = append(rules, projects.Rule{Field: "ip", Match: "0.0.0.0/0", Action: "drop"}, projects.Rule{Field: "ip", Match: "::/0", Action: "drop"})
	if got := noise.Compile(rules).Decide(&noise.Sighting{}); got != (noise.Verdict{}) {
		t.Errorf("%+v", got)
	}
}

func TestRulesTogether(t *testing.T) {
	rule := func(field, match, action string) projects.Rule {
		return projects.Rule{Field: field, Match: match, Action: action}
	}
	mute, mark, drop := rule("class", "redis", "mute"), rule("logger", "health", "noise"), rule("file", "cart", "drop")
	other := rule("class", "PDO", "drop")
	for name, c := range map[string]struct {
		rules []projects.Rule
		want  noise.Verdict
	}{
		"none":                  {nil, noise.Verdict{}},
		"no match":              {[]projects.Rule{other}, noise.Verdict{}},
		"both marks":            {[]projects.Rule{other, mark, mute}, noise.Verdict{Mute: true, Noise: true}},
		"drop first":            {[]projects.Rule{drop, mute, mark}, noise.Verdict{Drop: true}},
		"drop last":             {[]projects.Rule{mute, mark, drop}, noise.Verdict{Drop: true}},
		"of a newer version":    {[]projects.Rule{rule("class", "redis", "forget"), rule("color", "e", "drop"), {Set: "weather", Action: "drop"}}, noise.Verdict{}},
		"an unknown set beside": {[]projects.Rule{{Set: "weather", Action: "drop"}, mute}, noise.Verdict{Mute: true}},
	} {
		s := event()
		if got := noise.Compile(c.rules).Decide(&s); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestMatchIsThatOfTheList: a rule matches exactly when each part of the text stands in
// the field, one behind the other, in either case.
func TestMatchIsThatOfTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[aAbB*ä%_ ]{0,12}`).Draw(t, "text")
		match := rapid.StringMatching(`[aAbB*ä%_ ]{1,6}`).Draw(t, "match")
		if strings.Trim(match, "* ") == "" {
			t.Skip("such a rule is refused")
		}
		s := noise.Sighting{Message: text}
		got := noise.Compile([]projects.Rule{{Field: "message", Match: match, Action: "mute"}}).Decide(&s).Mute
		if want := like(strings.ToLower(text), "*"+strings.ToLower(match)+"*"); got != want {
			t.Fatalf("%q in %q: %v, want %v", match, text, got, want)
		}
	})
}

// like is a pattern with asterisks over the whole text, in the simplest way.
func like(text, pattern string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '*':
		return like(text, pattern[1:]) || text != "" && like(text[1:], pattern)
	default:
		return text != "" && text[0] == pattern[0] && like(text[1:], pattern[1:])
	}
}

// TestBook: each list is compiled once, and another list at once.
func TestBook(t *testing.T) {
	var b noise.Book
	list := []projects.Rule{{Field: "class", Match: "redis", Action: "drop"}}
	first := b.Of(300, list)
	if first == nil || b.Of(300, list) != first {
		t.Error("the same list was compiled twice")
	}
	if b.Of(301, nil) != nil || b.Of(300, nil) != nil {
		t.Error("rules of no list")
	}
	s := event()
	other := []projects.Rule{{Field: "class", Match: "redis", Action: "mute"}}
	if got := b.Of(300, other).Decide(&s); got != (noise.Verdict{Mute: true}) {
		t.Errorf("after a change: %+v", got)
	}
	if n := testing.AllocsPerRun(100, func() { b.Of(300, nil).Decide(&s) }); n != 0 {
		t.Errorf("%v allocations without rules", n)
	}
}
