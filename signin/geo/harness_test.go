package geo

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// entries are what a database for a test holds: prefix to record.
type entries map[string]mmdbtype.DataType

// cityRecord is a record as in GeoLite2-City.
func cityRecord(country, region, city string) mmdbtype.DataType {
	record := mmdbtype.Map{"country": mmdbtype.Map{
		"iso_code": mmdbtype.String(country), "names": mmdbtype.Map{"en": mmdbtype.String("Somewhere")}, "geoname_id": mmdbtype.Uint32(1),
	}}
	if region != "" {
		record["subdivisions"] = mmdbtype.Slice{mmdbtype.Map{"iso_code": mmdbtype.String(region)}, mmdbtype.Map{"iso_code": mmdbtype.String("inner")}}
	}
	if city != "" {
		record["city"] = mmdbtype.Map{"names": mmdbtype.Map{"de": mmdbtype.String("Anderswo"), "en": mmdbtype.String(city)}}
	}
	return record
}

// flatRecord is a record as ip-location-db writes it.
func flatRecord(pairs ...string) mmdbtype.DataType {
	record := mmdbtype.Map{}
	for i := 0; i < len(pairs); i += 2 {
		record[mmdbtype.String(pairs[i])] = mmdbtype.String(pairs[i+1])
	}
	return record
}

// build is a database file in memory.
func build(t testing.TB, kind string, records entries) []byte {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: kind, BuildEpoch: 1_781_725_900, IncludeReservedNetworks: true, RecordSize: 24})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, record := range records {
		_, network, err := net.ParseCIDR(prefix)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Insert(network, record); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func cityDatabase(t testing.TB) []byte {
	t.Helper()
	return build(t, "GeoLite2-City", entries{
		"81.2.69.0/24":    cityRecord("GB", "ENG", "London"),
		"89.160.20.0/24":  cityRecord("SE", "", ""),
		"2a02:d000::/20":  cityRecord("DE", "BE", "Berlin"),
		"10.0.0.0/8":      cityRecord("AU", "NSW", "Sydney"), // wrong, as seen in the wild
		"100.64.0.0/10":   cityRecord("AU", "", ""),
		"46.0.0.0/16":     cityRecord("zz", "", ""),
		"47.0.0.0/16":     cityRecord("Narnia", "", ""),
		"48.0.0.0/16":     mmdbtype.Map{"city": mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String("Lost")}}},
		"49.0.0.0/16":     cityRecord("FR", "a\x00b", "x\x1b[31m"),
		"2001:db8:1::/48": cityRecord("US", "CA", "Doctown"),
	})
}

// save puts a file into a folder of the test.
func save(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
