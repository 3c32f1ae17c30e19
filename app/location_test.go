package app_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/errata-log/errata/app"
)

// saveCities writes a location database that tells cities.
func saveCities(t *testing.T, path string) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-City"})
	if err != nil {
		t.Fatal(err)
	}
	_, block, err := net.ParseCIDR("1.0.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	english := func(name string) mmdbtype.Map {
		return mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String(name)}}
	}
	if err := tree.Insert(block, mmdbtype.Map{
		"country": mmdbtype.Map{"iso_code": mmdbtype.String("AU")}, "city": english("Brisbane"),
		"subdivisions": mmdbtype.Slice{mmdbtype.Map{"iso_code": mmdbtype.String("QLD")}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLocationDatabaseOfAService: a database in the data folder is a module that can be
// chosen; a broken one counts as none; one that a setting names must exist.
func TestLocationDatabaseOfAService(t *testing.T) {
	o := testOptions(t)
	found := filepath.Join(o.Data, "geo", "cities.mmdb")
	saveCities(t, found)
	a := build(t, o)
	stop := run(t, a)
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":"mmdb"}`, `{"data":{"ip_module":"mmdb"}}`)
	wantAnswer(t, a, "PUT", "security/location-verification", `{"client":{"type":"city"}}`, `"type":"city"`)
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(found, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = build(t, o)
	stop = run(t, a)
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":"mmdb"}`, `{"data":{"ip_module":"mmdb"}}`) // in force already
	wantAnswer(t, a, "PUT", "localization", `{"ip_module":""}`, `{"data":{"ip_module":""}}`)
	wantsError(t, "a broken database", newSignInClient(t, a).ask("PUT", securityPath+"localization", `{"ip_module":"mmdb"}`),
		http.StatusUnprocessableEntity, "invalid_ip_module")
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	o.GeoDatabase = filepath.Join(t.TempDir(), "nothing.mmdb")
	if _, err := app.New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "geo-database") {
		t.Errorf("a database that was named and is not there: %v, want an error that names the setting", err)
	}
}
