package geo

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/errata-log/errata/signin"
)

// Tells says which parts of a [signin.Place] a database has.
type Tells struct {
	Country, Region, City bool
}

// Makers use different layouts; the first path that leads to a text counts. The
// short ones are those of the ip-location-db family.
var (
	countryPaths = [][]any{{"country", "iso_code"}, {"country_code"}, {"country"}}
	regionPaths  = [][]any{{"subdivisions", 0, "iso_code"}, {"subdivisions", 0, "names", "en"}, {"state1"}, {"region"}}
	cityPaths    = [][]any{{"city", "names", "en"}, {"city"}}
)

const (
	// maxName bounds a region or a city, in bytes. The longest place name in
	// use has 58 letters, with up to three bytes each in most scripts.
	maxName = 200
	// maxSample is how many entries are read to learn what a database has.
	maxSample = 5000
)

// placeOf reads an entry. A damaged one is an unknown place.
func placeOf(result maxminddb.Result) (place signin.Place, known bool) {
	if result.Err() != nil || !result.Found() {
		return place, false
	}
	country := strings.ToUpper(first(result, countryPaths))
	if !isCountry(country) {
		return place, false
	}
	return signin.Place{Country: country, Region: first(result, regionPaths), City: first(result, cityPaths)}, true
}

func first(result maxminddb.Result, paths [][]any) string {
	for _, path := range paths {
		var text string
		// Another layout has another type, or nothing, at the path.
		if err := result.DecodePath(&text, path...); err == nil && text != "" {
			return clean(text)
		}
	}
	return ""
}

// clean is the text without blanks around it, "" when it must not be shown or
// stored.
func clean(text string) string {
	if len(text) > maxName || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	return strings.TrimSpace(text)
}

// isCountry says whether a code may be one of ISO 3166-1. ZZ and XX are what
// databases write for an unknown one.
func isCountry(code string) bool {
	return len(code) == 2 && code[0] >= 'A' && code[0] <= 'Z' && code[1] >= 'A' && code[1] <= 'Z' && code != "ZZ" && code != "XX"
}

// tellsOf reads the type that the maker states, and the first entries: an
// unknown type says nothing, and the first entries of a city database may have
// no city.
func tellsOf(reader *maxminddb.Reader) Tells {
	var tells Tells
	for _, word := range []string{"City", "Enterprise", "Insights"} {
		if kind := reader.Metadata.DatabaseType; strings.HasPrefix(kind, "Geo") && strings.Contains(kind, word) {
			tells = Tells{Region: true, City: true}
		}
	}
	seen := 0
	// Empty networks are counted as well: a forged tree may have 2^128 of them.
	for result := range reader.Networks(maxminddb.IncludeNetworksWithoutData()) {
		if seen++; seen > maxSample || tells == (Tells{true, true, true}) || result.Err() != nil {
			break
		}
		if place, known := placeOf(result); known {
			tells.Country = true
			tells.Region = tells.Region || place.Region != ""
			tells.City = tells.City || place.City != ""
		}
	}
	return tells
}

// nowhere are the blocks that belong to no country and that netip does not
// know: carrier-grade NAT, documentation, benchmarks, reserved.
var nowhere = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("100::/64"),
}

// located says whether an address can be in a country at all. Databases give
// wrong answers for private blocks.
func located(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate() &&
		!slices.ContainsFunc(nowhere, func(p netip.Prefix) bool { return p.Contains(addr) })
}
