package query_test

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// someFilter draws a filter that the list's parameters can say.
func someFilter(t *rapid.T) query.Filter {
	text := rapid.OneOf(rapid.Just(""), rapid.SampledFrom([]string{"a", "two  words", "50%", "*", "a,b", "Größe"}))
	at := func(label string) time.Time {
		return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, label)).UTC()
	}
	f := query.Filter{
		Search: text.Draw(t, "search"), File: text.Draw(t, "file"), Class: text.Draw(t, "class"),
		URI: text.Draw(t, "uri"), Message: text.Draw(t, "message"),
		Method:        rapid.SampledFrom([]string{"", "GET"}).Draw(t, "method"),
		MinOccurrence: rapid.Uint64Range(0, 9).Draw(t, "min"),
		HideNoise:     rapid.Bool().Draw(t, "noise"),
	}
	if rapid.Bool().Draw(t, "projects") {
		f.Projects = query.OnlyProjects(rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 3).Draw(t, "numbers")...)
	}
	names := rapid.SampledFrom([]query.Names{nil, nil, {"production"}, {"", "qa *"}, {"größe", "shop@1.2"}})
	f.Environments, f.Releases = names.Draw(t, "environments"), names.Draw(t, "releases")
	f.EventID = rapid.SampledFrom([]string{"", "", "order 7", "00112233445566778899aabbccddeeff"}).Draw(t, "event")
	f.Tags = rapid.SampledFrom([][]errata.Tag{nil, nil, {{Key: "region", Value: "eu-1"}}, {{Key: "a", Value: ""}, {Key: "url", Value: "https://shop, x"}}}).Draw(t, "tags")
	if rapid.Bool().Draw(t, "books") {
		f.Books = []errata.Book{errata.BookSystem, errata.BookDatabase}
	}
	if rapid.Bool().Draw(t, "levels") {
		f.Levels = []errata.Level{errata.LevelDebug, errata.LevelFatal}
	}
	if rapid.Bool().Draw(t, "statuses") {
		f.Statuses = []errata.Status{errata.StatusMuted, errata.StatusOpen}
	}
	if rapid.Bool().Draw(t, "signature") {
		f.Signature = &errata.Signature{1, 2, 3}
	}
	if rapid.Bool().Draw(t, "user") {
		id := rapid.Int64().Draw(t, "id")
		f.UserID = &id
	}
	if rapid.Bool().Draw(t, "ip") {
		f.IP = netip.MustParsePrefix(rapid.SampledFrom([]string{"10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32"}).Draw(t, "prefix"))
	}
	if rapid.Bool().Draw(t, "from") {
		f.From = at("begin")
	}
	if rapid.Bool().Draw(t, "to") {
		if f.To = at("end"); f.To.Before(f.From) {
			f.To = f.From
		}
	}
	return f
}

// TestStoredFilters: what a command keeps of a filter selects the same records.
func TestStoredFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := someFilter(t)
		stored, err := query.EncodeFilter(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := query.DecodeFilter(stored)
		if err != nil || !got.Projects.Equal(f.Projects) || !reflect.DeepEqual(withoutProjects(got), withoutProjects(f)) {
			t.Fatalf("%s is read as %+v, %v; want %+v", stored, got, err, f)
		}
	})
}

func withoutProjects(f query.Filter) query.Filter {
	f.Projects = query.Projects{}
	return f
}

// TestNoProjectIsStored: a command for no project changes nothing.
func TestNoProjectIsStored(t *testing.T) {
	stored, err := query.EncodeFilter(query.Filter{Projects: query.OnlyProjects(), Statuses: []errata.Status{errata.StatusOpen}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.DecodeFilter(stored)
	if err != nil || !f.Projects.None() {
		t.Fatalf("%s is read as %+v, %v", stored, f, err)
	}
	if condition, args, err := f.Condition(); condition != "0" || len(args) != 0 || err != nil {
		t.Errorf("condition %q, %v, %v", condition, args, err)
	}
}

// Every parameter that selects is stored.
func TestFilterParametersAreStored(t *testing.T) {
	values := url.Values{
		"search": {"x"}, "types": {"system"}, "environment": {"production,(unknown)"}, "release": {"1.*"}, "levels": {"error"}, "status": {"open"}, "signature": {strings.Repeat("a1", 16)}, "file": {"f"},
		"exception_class": {"c"}, "request_uri": {"/"}, "message": {"m"}, "http_method": {"GET"}, "user_id": {"0"}, "ip": {"10.0.0.0/8"},
		"min_occurrence": {"2"}, "date_range": {"24h"}, "hide_noise": {"on"}, "tag": {"tier:gold"}, "event_id": {strings.Repeat("e1", 16)},
	}
	f, _, err := query.Parse(values, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	values.Set("project", "2")
	f.Projects = query.OnlyProjects(2) // the API reads it
	stored, err := query.EncodeFilter(f)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]string
	if err := json.Unmarshal(stored, &kept); err != nil {
		t.Fatal(err)
	}
	for _, name := range query.FilterParameters {
		if values.Get(name) == "" || kept[name] == "" {
			t.Errorf("%s: %q is kept as %q", name, values.Get(name), kept[name])
		}
	}
	if len(kept) != len(query.FilterParameters) {
		t.Errorf("%s has other parameters", stored)
	}
}

// TestStoredFilterLayout: filters stand on logs for ever.
func TestStoredFilterLayout(t *testing.T) {
	const stored = `{"date_range":"2026-11-01T00:00:00.000Z..2026-11-21T23:59:59.999Z","hide_noise":"1","levels":"error,fatal","search":"order 7","status":"open"}`
	f, err := query.DecodeFilter([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := query.EncodeFilter(f); err != nil || string(again) != stored {
		t.Errorf("%s, %v", again, err)
	}
}

// TestForeignFiltersAreRefused: a filter of a newer version must not lose a
// condition, and so select more.
func TestForeignFiltersAreRefused(t *testing.T) {
	for stored, want := range map[string]string{
		`{"status":"open","planet":"mars"}`: "planet",
		`{"levels":"purple"}`:               "purple",
		`{"levels":["error"]}`:              "filter",
		`{"project":"2,web"}`:               "web",
		`{"project":""}`:                    "filter",
		`{"environment":","}`:               "environment",
		`[]`:                                "filter",
		``:                                  "filter",
	} {
		if f, err := query.DecodeFilter(json.RawMessage(stored)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want an error with %q", stored, f, err, want)
		}
	}
}
