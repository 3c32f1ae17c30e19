package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/signin"
)

// settingPaths are the routes of settings: those that are changed with PUT, each
// of which is also read.
func settingPaths(t *testing.T) (paths []string) {
	t.Helper()
	read := map[string]bool{}
	for _, r := range api.Routes() {
		read[r.Path] = read[r.Path] || r.Method == http.MethodGet
	}
	for _, r := range api.Routes() {
		if r.Method != http.MethodPut {
			continue
		}
		if !read[r.Path] {
			t.Errorf("%s can be changed and not be read", r.Path)
		}
		paths = append(paths, r.Path)
	}
	if !slices.Contains(paths, locationPath) || !slices.Contains(paths, logSettingsPath) {
		t.Fatalf("the routes of settings are %q", paths)
	}
	return paths
}

// TestWhatWasReadCanBePutBack: whatever is set and whatever is installed, also
// when a module is gone since, a PUT of what GET answered is taken and changes no
// setting.
func TestWhatWasReadCanBePutBack(t *testing.T) {
	b := newBench(t, nil)
	key, paths := b.key(t, access.Everything), settingPaths(t)
	ask := func(t *rapid.T, method, path, body string) string {
		w := b.do(request{method: method, target: path, key: key, body: body})
		var envelope struct{ Data json.RawMessage }
		if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
		}
		return string(envelope.Data)
	}
	all := func(t *rapid.T) (texts []string) {
		for _, path := range paths {
			texts = append(texts, ask(t, http.MethodGet, path, ""))
		}
		return texts
	}
	rapid.Check(t, func(t *rapid.T) {
		b.security.Modules = someModules(t)
		b.security.kept.now = someSecurity(t)
		b.logging.now = someLogging(t)
		before := all(t)
		for i, path := range paths {
			if got := ask(t, http.MethodPut, path, before[i]); got != before[i] {
				t.Fatalf("PUT %s of %s answers %s", path, before[i], got)
			}
			if after := all(t); !slices.Equal(after, before) {
				t.Fatalf("PUT %s of what was read changed\n%s into\n%s", path, strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		}
	})
}

func someModules(t *rapid.T) signin.Modules {
	m := signin.BuiltIn(rapid.Bool().Draw(t, "mail"))
	every := everyModule()
	if rapid.Bool().Draw(t, "plug-in") {
		m.Methods = append(m.Methods, every.Methods[len(every.Methods)-1])
	}
	m.Locations = every.Locations[:rapid.IntRange(0, len(every.Locations)).Draw(t, "location modules")]
	return m
}

func someFlag(t *rapid.T, name string) signin.Flag { return signin.Flag(rapid.Bool().Draw(t, name)) }

// someSecurity are settings that could have been made while any module was
// installed.
func someSecurity(t *rapid.T) signin.Settings {
	if rapid.Bool().Draw(t, "first start") {
		return signin.Standard()
	}
	distinct := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{signin.KeyTOTP, signin.KeyEmail, "sms"}), 0, 3, rapid.ID[string])
	place := func(side string) signin.LocationSide {
		return signin.LocationSide{
			Status: someFlag(t, side+" location"),
			Method: rapid.SampledFrom([]string{signin.MethodEmail, "sms"}).Draw(t, side+" method"),
			Type:   rapid.SampledFrom([]string{signin.TypeCountry, signin.TypeRegion, signin.TypeCity}).Draw(t, side+" type"),
		}
	}
	address := func(side string) signin.AddressSide {
		list, err := signin.NewWhitelist(somePrefixes(t, side))
		if err != nil {
			t.Fatal(err)
		}
		return signin.AddressSide{Status: someFlag(t, side+" address"), Whitelist: list}
	}
	return signin.Settings{
		TwoFactor:    signin.TwoFactor{Authentications: distinct.Draw(t, "methods"), Admin: someFlag(t, "admin"), Client: someFlag(t, "client"), ShowPopup: someFlag(t, "popup")},
		Location:     signin.Location{Admin: place("admin"), Client: place("client")},
		Addresses:    signin.Addresses{Admin: address("admin"), Client: address("client")},
		Localization: signin.Localization{IPModule: rapid.SampledFrom([]string{"", "mmdb", "coarse", "gone"}).Draw(t, "module")},
	}
}

func someLogging(t *rapid.T) errata.Logging {
	on := func(name string) bool { return rapid.Bool().Draw(t, name) }
	return errata.Logging{
		ErrorLog: on("error_log"), ErrorDebug: on("error_debug"), Development: on("development"),
		ModuleLog: on("module_log"), QueryLogging: on("query_logging"), QueryLoggingIPs: somePrefixes(t, "queries"),
	}
}

// somePrefixes are addresses and prefixes in the form that settings keep.
func somePrefixes(t *rapid.T, name string) []netip.Prefix {
	prefix := rapid.Custom(func(t *rapid.T) netip.Prefix {
		size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
		addr, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "address"))
		return netip.PrefixFrom(addr, rapid.IntRange(0, addr.BitLen()).Draw(t, "length")).Masked()
	})
	return rapid.SliceOfN(prefix.Filter(func(p netip.Prefix) bool { return !p.Addr().Is4In6() }), 0, 4).Draw(t, name)
}
