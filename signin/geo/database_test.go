package geo

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter/mmdbtype"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/signin"
)

func TestLookup(t *testing.T) {
	db, err := open(save(t, "city.mmdb", cityDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for address, want := range map[string]signin.Place{
		"81.2.69.160":            {Country: "GB", Region: "ENG", City: "London"},
		"::ffff:81.2.69.160":     {Country: "GB", Region: "ENG", City: "London"},
		"89.160.20.1":            {Country: "SE", Region: "", City: ""},
		"2a02:d000::1":           {Country: "DE", Region: "BE", City: "Berlin"},
		"2a02:d000::1%eth0":      {Country: "DE", Region: "BE", City: "Berlin"},
		"49.0.0.1":               {Country: "FR", Region: "", City: ""}, // control characters are no name
		"81.2.70.1":              {},                                    // not in it
		"2a03::1":                {},
		"46.0.0.1":               {}, // ZZ
		"47.0.0.1":               {}, // no code
		"48.0.0.1":               {}, // no country
		"10.1.2.3":               {}, // private
		"::ffff:10.1.2.3":        {},
		"192.168.1.1":            {},
		"127.0.0.1":              {},
		"169.254.1.1":            {},
		"100.64.1.1":             {}, // carrier-grade NAT
		"0.0.0.0":                {},
		"224.0.0.1":              {},
		"255.255.255.255":        {},
		"::":                     {},
		"::1":                    {},
		"fe80::1%eth0":           {},
		"fd00::1":                {},
		"2001:db8:1::1":          {}, // documentation
		"ff02::1":                {},
		"2a02:cfff:ffff:ffff::1": {},
	} {
		place, known := db.Lookup(netip.MustParseAddr(address))
		if place != want || known != (want != signin.Place{}) {
			t.Errorf("Lookup(%s) = %+v, %t, want %+v", address, place, known, want)
		}
	}
	if place, known := db.Lookup(netip.Addr{}); known || place != (signin.Place{}) {
		t.Errorf("no address is at %+v", place)
	}
	if info := db.Info(); info.Type != "GeoLite2-City" || !info.Built.Equal(time.Unix(1_781_725_900, 0)) || info.Bytes == 0 || filepath.Base(info.Path) != "city.mmdb" {
		t.Errorf("info %+v", info)
	}
}

func TestTells(t *testing.T) {
	for name, test := range map[string]struct {
		kind    string
		records entries
		want    Tells
	}{
		"city by type, none in the sample": {"GeoIP2-City", entries{"81.2.69.0/24": cityRecord("GB", "", "")}, Tells{true, true, true}},
		"country":                          {"GeoLite2-Country", entries{"81.2.69.0/24": cityRecord("GB", "", "")}, Tells{Country: true}},
		"country, flat":                    {"country ipvAll", entries{"81.2.69.0/24": flatRecord("country_code", "gb")}, Tells{Country: true}},
		"city, flat": {"city ipvAll", entries{"81.2.69.0/24": flatRecord("country_code", "GB", "state1", "England", "city", "London")},
			Tells{true, true, true}},
		"region, flat": {"Mine", entries{"81.2.69.0/24": flatRecord("country", "GB", "region", "England")}, Tells{Country: true, Region: true}},
		"a type that only sounds so": {"my City numbers", entries{"81.2.69.0/24": flatRecord("country_code", "GB")},
			Tells{Country: true}},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := parse(build(t, test.kind, test.records))
			if err != nil {
				t.Fatal(err)
			}
			if db.Info().Tells != test.want {
				t.Errorf("tells %+v, want %+v", db.Info().Tells, test.want)
			}
			if place, known := db.Lookup(netip.MustParseAddr("81.2.69.1")); !known || place.Country != "GB" {
				t.Errorf("place %+v, known %t, want GB", place, known)
			}
		})
	}
}

func TestWhatIsNoLocationDatabase(t *testing.T) {
	asn := build(t, "GeoLite2-ASN", entries{"81.2.69.0/24": mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(1)}})
	for name, path := range map[string]string{
		"missing":              filepath.Join(t.TempDir(), "none.mmdb"),
		"a folder":             t.TempDir(),
		"empty":                save(t, "x.mmdb", nil),
		"text":                 save(t, "x.mmdb", []byte(strings.Repeat("hello ", 1000))),
		"of other things":      save(t, "x.mmdb", asn),
		"empty of all entries": save(t, "x.mmdb", build(t, "GeoLite2-Country", nil)),
	} {
		if db, err := open(path); err == nil || db != nil {
			t.Errorf("%s: opened, error %v", name, err)
		}
	}
}

// Answers must not depend on later changes of the file.
func TestFileOverwrittenWhileOpen(t *testing.T) {
	path := save(t, "city.mmdb", cityDatabase(t))
	db, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if place, known := db.Lookup(netip.MustParseAddr("81.2.69.160")); !known || place.City != "London" {
		t.Errorf("place %+v, known %t", place, known)
	}
}

func TestCloseWhileAsked(t *testing.T) {
	db, err := parse(cityDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				if _, known := db.Lookup(netip.MustParseAddr("81.2.69.160")); !known {
					return
				}
			}
		})
	}
	db.Close()
	asking.Wait()
	db.Close()
	if _, known := db.Lookup(netip.MustParseAddr("81.2.69.160")); known {
		t.Error("a closed database knows")
	}
}

// ask is a lookup that must never panic, hang or return a text that cannot be
// shown.
func ask(t interface{ Errorf(string, ...any) }, data []byte) {
	db, err := parse(data)
	if err != nil {
		return
	}
	if !db.Info().Country {
		t.Errorf("opened without countries")
	}
	for _, address := range []string{"0.0.0.1", "81.2.69.160", "255.1.1.1", "89.160.20.1", "2a02:d000::1", "8000::1", "2002:5102:4500::1", "49.0.0.1"} {
		place, known := db.Lookup(netip.MustParseAddr(address))
		if known != (place.Country != "") || known && !isCountry(place.Country) || len(place.Region) > maxName || clean(place.City) != place.City {
			t.Errorf("%s is at %+v, known %t", address, place, known)
		}
	}
}

func TestEveryCut(t *testing.T) {
	whole := cityDatabase(t)
	for n := range whole {
		ask(t, whole[:n])
		ask(t, whole[n:])
	}
}

func TestRandomDamage(t *testing.T) {
	whole := cityDatabase(t)
	rapid.Check(t, func(t *rapid.T) {
		data := append([]byte(nil), whole...)
		for range rapid.IntRange(1, 20).Draw(t, "bytes") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		ask(t, data)
	})
}

func FuzzDatabase(f *testing.F) {
	f.Add(cityDatabase(f))
	f.Add(build(f, "country ipvAll", entries{"81.2.69.0/24": flatRecord("country_code", "GB")}))
	f.Add(forged(f))
	f.Add([]byte("\xab\xcd\xefMaxMind.com"))
	f.Fuzz(func(t *testing.T, data []byte) { ask(t, data) })
}

// forged is a database whose tree has 2^126 empty leaves: node i leads to node
// i+1 on both sides.
func forged(t testing.TB) []byte {
	t.Helper()
	whole := build(t, "GeoLite2-Country", entries{"2a02:d000::/127": cityRecord("DE", "", "")})
	db, err := parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	count := int(db.reader.Load().Metadata.NodeCount)
	if count < 120 {
		t.Fatalf("%d nodes are too few", count)
	}
	data := append([]byte(nil), whole...)
	for i := range count {
		next := i + 1
		for side := range 2 {
			at := i*6 + side*3
			data[at], data[at+1], data[at+2] = byte(next>>16), byte(next>>8), byte(next)
		}
	}
	return data
}

func TestForgedTreeEnds(t *testing.T) {
	done := make(chan error, 1)
	go func() {
		_, err := parse(forged(t))
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a database without countries was opened")
		}
	case <-time.After(20 * time.Second): // reason: the failure it guards against is a search without end
		t.Fatal("opening does not end")
	}
}

func BenchmarkLookup(b *testing.B) {
	db, err := parse(cityDatabase(b))
	if err != nil {
		b.Fatal(err)
	}
	for _, address := range []string{"81.2.69.160", "10.0.0.1"} {
		addr := netip.MustParseAddr(address)
		b.Run(address, func(b *testing.B) {
			for b.Loop() {
				db.Lookup(addr)
			}
		})
	}
}
