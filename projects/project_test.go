package projects

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

var made = errata.Instant(time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC))

// setOf is a set of projects with the slugs, numbered from 1.
func setOf(slugs ...string) (all Set) {
	for i, slug := range slugs {
		p := unnamed(uint64(i+1), made)
		p.Slug = slug
		all = all.With(p)
	}
	return all
}

func TestSlugsAreMadeOfNames(t *testing.T) {
	taken := setOf("default", "shop", "shop-2", "project-4")
	for name, want := range map[string]string{
		"Web Shop":                      "web-shop",
		"  Café — Zürich! ":             "cafe-zurich",
		"Shop":                          "shop-3",
		"default":                       "default-2",
		"C++ / C#":                      "c-c",
		"api_v2.1":                      "api-v2-1",
		"2026":                          "project-9",
		"магазин":                       "project-9",
		"فروشگاه 7":                     "project-9",
		"--":                            "project-9",
		"Project 9":                     "project-9",
		"Project 8":                     "project-8-2", // project-8 is the slug of number 8
		strings.Repeat("ab ", 40):       strings.TrimSuffix(strings.Repeat("ab-", 17)[:50], "-"),
		strings.Repeat("x", 49) + " yz": strings.Repeat("x", 49),
	} {
		if got := taken.freeSlug(name, 9); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A slug made of any name is one that somebody could choose, and stays unique.
func TestEveryMadeSlugIsGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all Set
		for number := uint64(1); number <= 12; number++ {
			name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "A", "a 2", "project 3", "project-3", "11", strings.Repeat("a", 60)})).Draw(t, "name")
			slug := all.freeSlug(name, number)
			if err := all.checkSlug(slug, number); err != nil {
				t.Fatalf("%q of %q: %v", slug, name, err)
			}
			p := unnamed(number, made)
			p.Slug = slug
			all = all.With(p)
		}
	})
}

// TestPatch: what each field takes, and the error that names it.
//
// long: it is a table.
func TestPatch(t *testing.T) {
	present := unnamed(2, made)
	present.Slug, present.Noise = "shop", []Rule{{Field: "class", Match: "Bot*", Action: "drop"}}
	all := setOf("default").With(present)
	sent := errata.Sent[string]
	limit := func(n uint64) errata.Optional[LimitsPatch] {
		return errata.Sent(LimitsPatch{EventsPerMinute: errata.Sent(Limit{true, n})})
	}
	rule := func(r Rule) errata.Optional[[]Rule] {
		return errata.Sent([]Rule{{Field: "message", Match: "ResizeObserver*", Action: "noise"}, r})
	}
	for _, c := range []struct {
		patch Patch
		want  string // "" where it is taken, else kind and field
	}{
		{Patch{}, ""},
		{Patch{Name: sent("  Shop  ")}, ""},
		{Patch{Name: sent(" ")}, "invalid_name name"},
		{Patch{Name: sent("a\x00b")}, "invalid_name name"},
		{Patch{Name: sent(strings.Repeat("ä", maxName))}, ""},
		{Patch{Name: sent(strings.Repeat("ä", maxName+1))}, "invalid_name name"},
		{Patch{Platform: sent("python-django")}, ""},
		{Patch{Platform: sent("")}, ""},
		{Patch{Platform: sent("Go!")}, "invalid_platform platform"},
		{Patch{Platform: sent(strings.Repeat("a", maxPlatform+1))}, "invalid_platform platform"},
		{Patch{Slug: sent("web-shop")}, ""},
		{Patch{Slug: sent("shop")}, ""},
		{Patch{Slug: sent("project-2")}, ""},
		{Patch{Slug: sent("project-3")}, "invalid_slug slug"},
		{Patch{Slug: sent("default")}, "invalid_slug slug"},
		{Patch{Slug: sent("")}, "invalid_slug slug"},
		{Patch{Slug: sent("42")}, "invalid_slug slug"},
		{Patch{Slug: sent("Shop")}, "invalid_slug slug"},
		{Patch{Slug: sent("-a")}, "invalid_slug slug"},
		{Patch{Slug: sent("a--b")}, "invalid_slug slug"},
		{Patch{Slug: sent(strings.Repeat("a", maxSlug+1))}, "invalid_slug slug"},
		{Patch{RetentionDays: errata.Sent(0)}, ""},
		{Patch{RetentionDays: errata.Sent(-1)}, "invalid_number retention_days"},
		{Patch{RetentionDays: errata.Sent(maxDays + 1)}, "invalid_number retention_days"},
		{Patch{OccurrenceDays: errata.Sent(1)}, ""},
		{Patch{OccurrenceDays: errata.Sent(0)}, "invalid_number occurrence_days"},
		{Patch{Limits: limit(0)}, ""},
		{Patch{Limits: limit(maxLimit)}, ""},
		{Patch{Limits: limit(maxLimit + 1)}, "invalid_number limits.events_per_minute"},
		{Patch{Context: errata.Sent(ContextPatch{Vars: sent("values")})}, ""},
		{Patch{Context: errata.Sent(ContextPatch{Vars: sent("all")})}, "invalid_context context.vars"},
		{Patch{Context: errata.Sent(ContextPatch{Vars: sent("")})}, "invalid_context context.vars"},
		{Patch{Noise: errata.Sent([]Rule{})}, ""},
		{Patch{Noise: rule(Rule{Field: "logger", Match: "*.healthz", Action: "mute"})}, ""},
		{Patch{Noise: rule(Rule{Field: "level", Match: "x", Action: "mute"})}, "invalid_noise_rule noise[1].field"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "**", Action: "drop"})}, "invalid_noise_rule noise[1].match"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: strings.Repeat("x", maxMatch+1), Action: "drop"})}, "invalid_noise_rule noise[1].match"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "10.*", Action: "forget"})}, "invalid_noise_rule noise[1].action"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "2001:DB8::/32", Action: "drop"})}, ""},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "::ffff:10.0.0.1", Action: "drop"})}, ""},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "10.0.0", Action: "drop"})}, "invalid_noise_rule noise[1].match"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "localhost*", Action: "drop"})}, "invalid_noise_rule noise[1].match"},
		{Patch{Noise: rule(Rule{Field: "ip", Match: "fe80::1%eth0", Action: "drop"})}, "invalid_noise_rule noise[1].match"},
		{Patch{Noise: rule(Rule{Set: "crawlers", Action: "drop"})}, ""},
		{Patch{Noise: rule(Rule{Set: "Crawlers", Action: "drop"})}, "invalid_noise_rule noise[1].set"},
		{Patch{Noise: rule(Rule{Set: "crawlers", Field: "class", Match: "x", Action: "drop"})}, "invalid_noise_rule noise[1].set"},
		{Patch{Noise: rule(Rule{Set: "crawlers", Action: "hide"})}, "invalid_noise_rule noise[1].action"},
		{Patch{Noise: rule(Rule{Match: "x", Action: "drop"})}, "invalid_noise_rule noise[1].field"},
		{Patch{Noise: errata.Sent(make([]Rule, maxRules+1))}, "invalid_noise_rule noise"},
	} {
		after, err := all.changed(present, c.patch)
		got := ""
		if told, ok := errors.AsType[*errata.Error](err); ok {
			got = fmt.Sprint(told.Kind, " ", told.Details.(map[string]any)["field"])
		}
		if got != c.want {
			t.Errorf("%+v: %q (%v), want %q", c.patch, got, err, c.want)
		}
		if err == nil && after.ID != 2 {
			t.Errorf("%+v made another project: %+v", c.patch, after)
		}
	}
}

// A patch changes what was sent and nothing else.
func TestPatchKeepsTheRest(t *testing.T) {
	p := unnamed(2, made)
	p.Limits.NewRecordsPerHour = Limit{true, 7}
	after, err := setOf("default").With(p).changed(p, Patch{
		Archived: errata.Sent(true), Limits: errata.Sent(LimitsPatch{EventsPerMinute: errata.Sent(Limit{true, 5})}),
	})
	want := p
	want.Archived, want.Limits.EventsPerMinute = true, Limit{true, 5}
	if err != nil || !after.Equal(want) || after.Equal(p) {
		t.Errorf("%+v, %v, want %+v", after, err, want)
	}
}

// Numbers that are used show as projects, and are found by number and slug.
func TestNumbersInUseAreProjects(t *testing.T) {
	all := setOf("default").withUsed(map[uint64]time.Time{1: {}, 5: time.Time(made), 9: {}})
	var got []string
	for _, p := range all.All() {
		got = append(got, fmt.Sprint(p.ID, " ", p.Slug, " ", p.Name, " ", p.OccurrenceDays))
	}
	if want := "1 default project 1 30|5 project-5 project 5 30|9 project-9 project 9 30"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for ref, want := range map[string]uint64{"5": 5, "project-5": 5, "PROJECT-5": 5, "default": 1, "05": 5, "2": 0, "": 0, "project-2": 0, "-1": 0} {
		p, err := all.Find(ref)
		if p.ID != want || (want == 0) != (errata.KindOf(err) == errata.KindNotFound && err != nil) {
			t.Errorf("%q: %d, %v, want %d", ref, p.ID, err, want)
		}
	}
}
