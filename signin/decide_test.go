package signin_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/signin"
)

// full is an installation with all modules.
func full() signin.Modules {
	return signin.BuiltIn(true,
		signin.LocationModule{Key: "mmdb", Country: true, Region: true, City: true},
		signin.LocationModule{Key: "coarse", Country: true})
}

// settings begins with the standard ones.
func settings(change func(*signin.Settings)) signin.Settings {
	s := signin.Standard()
	change(&s)
	return s
}

func list(t *testing.T, text string) signin.Whitelist {
	t.Helper()
	w, err := signin.ParseWhitelist(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// expected is a decision, with the codes of its warnings.
type expected struct {
	checks []signin.Check
	remind bool
	warns  []string
}

// sentence is one rule of the contract, or one that it leaves open.
type sentence struct {
	text     string
	request  signin.Request
	settings signin.Settings
	modules  signin.Modules
	want     expected
}

func decideAll(t *testing.T, sentences []sentence) {
	t.Helper()
	for _, c := range sentences {
		t.Run(c.text, func(t *testing.T) {
			d := signin.Decide(c.request, c.settings, c.modules)
			got := expected{checks: d.Checks, remind: d.Remind}
			for _, w := range d.Warnings {
				if w.Message == "" {
					t.Errorf("%s says nothing", w.Code)
				}
				got.warns = append(got.warns, w.Code)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(expected{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDecideTwoFactor(t *testing.T) {
	on := func(methods ...string) signin.Settings {
		return settings(func(s *signin.Settings) {
			s.TwoFactor = signin.TwoFactor{Authentications: methods, Admin: true, ShowPopup: true}
		})
	}
	by := func(side signin.Side, setUp ...string) signin.Request {
		return signin.Request{Side: side, SetUpMethods: setUp}
	}
	mailless := expected{warns: []string{signin.WarnMailModule}}
	silent := on("totp")
	silent.TwoFactor.ShowPopup = false
	asked := func(methods ...string) expected {
		return expected{checks: []signin.Check{{Kind: signin.CheckTwoFactor, Methods: methods, Reason: signin.ReasonSetUp}}}
	}
	decideAll(t, []sentence{
		{"at first nothing is asked", by(signin.Admin, "totp"), signin.Standard(), full(), expected{}},
		{"admins are asked for the second step", by(signin.Admin, "totp"), on("totp"), full(), asked("totp")},
		{"clients are not when only admins are", by(signin.Client, "totp"), on("totp"), full(), expected{}},
		{"with no method on nothing is enforced", by(signin.Admin, "totp"), on(), full(), expected{}},
		{"a method that is turned off stops working at once", by(signin.Admin, "totp"), on("email"), full(), expected{remind: true}},
		{"the other methods of the user go on", by(signin.Admin, "totp", "email"), on("email"), full(), asked("email")},
		{"in the order of the setting", by(signin.Admin, "totp", "email"), on("email", "totp"), full(), asked("email", "totp")},
		{"who has set none up is reminded and not asked", by(signin.Admin), on("totp"), full(), expected{remind: true}},
		{"and not reminded with show_popup off", by(signin.Admin), silent, full(), expected{}},
		{"nobody is reminded while their side is not asked", by(signin.Client), on("totp"), full(), expected{}},
		{"a method that is not installed is not on", by(signin.Admin, "sms"), on("sms"), full(), expected{}},
		{"e-mail is not installed without a mail module", by(signin.Admin, "email"), on("email"), signin.BuiltIn(false), mailless},
		{"nor is it where another method is on", by(signin.Admin, "email"), on("email", "totp"), signin.BuiltIn(false), expected{remind: true, warns: mailless.warns}},
		{"who is asked by another method misses no mail", by(signin.Admin, "email", "totp"), on("email", "totp"), signin.BuiltIn(false), asked("totp")},
		{"who has set up another method would get no mail", by(signin.Admin, "sms"), on("email"), signin.BuiltIn(false), expected{}},
		{"a side that is not asked misses no mail", by(signin.Client, "email"), on("email"), signin.BuiltIn(false), expected{}},
		{"a set-up that names no method", by(signin.Admin, "pigeon"), on("totp"), full(), expected{remind: true}},
	})
	clients := settings(func(s *signin.Settings) { s.TwoFactor.Authentications, s.TwoFactor.Client = []string{"totp"}, true })
	decideAll(t, []sentence{
		{"clients are asked for the second step", by(signin.Client, "totp"), clients, full(), asked("totp")},
		{"admins are not when only clients are", by(signin.Admin, "totp"), clients, full(), expected{}},
	})
}

func TestDecideLocation(t *testing.T) {
	on := func(module, method, comparison string) signin.Settings {
		return settings(func(s *signin.Settings) {
			s.Location.Admin = signin.LocationSide{Status: true, Method: method, Type: comparison}
			s.Localization.IPModule = module
		})
	}
	country := on("mmdb", "Email", "country")
	var (
		bonn    = signin.Place{Country: "DE", Region: "NW", City: "Bonn"}
		cologne = signin.Place{Country: "de", Region: "nw", City: "Köln"}
		munich  = signin.Place{Country: "DE", Region: "BY", City: "München"}
		vienna  = signin.Place{Country: "AT", Region: "9", City: "Wien"}
		germany = signin.Place{Country: "DE"}
	)
	from := func(place signin.Place, known ...signin.Place) signin.Request {
		return signin.Request{Side: signin.Admin, Place: place, KnownPlaces: known}
	}
	asClient := from(vienna, bonn)
	asClient.Side = signin.Client
	asked := func(reason string, warns ...string) expected {
		return expected{checks: []signin.Check{{Kind: signin.CheckLocation, Methods: []string{"Email"}, Reason: reason}}, warns: warns}
	}
	without := func(warns ...string) expected { return expected{warns: warns} }
	bySMS := full()
	bySMS.Methods = append(bySMS.Methods, signin.Method{Key: "sms", Name: "Text", CanSendCode: true})
	decideAll(t, []sentence{
		{"an unfamiliar location is asked", from(vienna, bonn, munich), country, full(), asked(signin.ReasonUnfamiliar)},
		{"a familiar one is not", from(cologne, vienna, bonn), country, full(), expected{}},
		{"the other side is not", asClient, country, full(), expected{}},
		{"switched off nobody is", from(vienna, bonn), settings(func(s *signin.Settings) { s.Localization.IPModule = "mmdb" }), full(), expected{}},
		{"the first sign-in is", from(bonn), country, full(), asked(signin.ReasonFirst)},
		{"a place that was not found is", from(signin.Place{}, bonn), country, full(), asked(signin.ReasonUnknown)},
		{"also when none was found before", from(signin.Place{}, signin.Place{}), country, full(), asked(signin.ReasonUnknown)},
		{"no location module is chosen", from(vienna, bonn), on("", "Email", "country"), full(), without(signin.WarnLocationModule)},
		{"the module that is chosen is gone", from(vienna, bonn), on("mmdb", "Email", "country"), signin.BuiltIn(true), without(signin.WarnLocationModule)},
		{"by region: the same", from(cologne, bonn), on("mmdb", "Email", "region"), full(), expected{}},
		{"by region: another", from(munich, bonn), on("mmdb", "Email", "region"), full(), asked(signin.ReasonUnfamiliar)},
		{"by region: it is not known", from(germany, bonn), on("mmdb", "Email", "region"), full(), asked(signin.ReasonUnknown)},
		{"by city: the same", from(bonn, bonn), on("mmdb", "Email", "city"), full(), expected{}},
		{"by city: another", from(cologne, bonn), on("mmdb", "Email", "city"), full(), asked(signin.ReasonUnfamiliar)},
		{"by city: of one name in another region", from(signin.Place{Country: "DE", Region: "BY", City: "Bonn"}, bonn), on("mmdb", "Email", "city"), full(), asked(signin.ReasonUnfamiliar)},
		{"by city: it is not known", from(germany, bonn), on("mmdb", "Email", "city"), full(), asked(signin.ReasonUnknown)},
		{"a module that cannot tell it compares countries", from(germany, bonn), on("coarse", "Email", "city"), full(), without(signin.WarnLocationType)},
		{"and asks from others", from(vienna, bonn), on("coarse", "Email", "city"), full(), asked(signin.ReasonUnfamiliar, signin.WarnLocationType)},
		{"no mail module can send the code", from(vienna, bonn), country, signin.BuiltIn(false, full().Locations...), without(signin.WarnMailModule)},
		{"neither a location module nor a mail module", from(vienna, bonn), on("", "Email", "country"), signin.BuiltIn(false), without(signin.WarnLocationModule, signin.WarnMailModule)},
		{"a familiar place needs no code", from(bonn, bonn), country, signin.BuiltIn(false, full().Locations...), expected{}},
		{"another method that sends codes", from(vienna, bonn), on("mmdb", "sms", "country"), bySMS,
			expected{checks: []signin.Check{{Kind: signin.CheckLocation, Methods: []string{"sms"}, Reason: signin.ReasonUnfamiliar}}}},
		{"the method is gone", from(vienna, bonn), on("mmdb", "sms", "country"), full(), without(signin.WarnMethod)},
	})
}

func TestDecideAddress(t *testing.T) {
	addrs := func(texts ...string) (all []netip.Addr) {
		for _, text := range texts {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	}
	on := settings(func(s *signin.Settings) {
		s.Addresses.Admin = signin.AddressSide{Status: true, Whitelist: list(t, "10.0.0.0/8\n2001:db8::/32")}
	})
	from := func(address string, known ...string) signin.Request {
		addr, _ := netip.ParseAddr(address)
		return signin.Request{Side: signin.Admin, Address: addr, KnownAddresses: addrs(known...)}
	}
	asClient := from("192.0.2.1")
	asClient.Side = signin.Client
	off := on
	off.Addresses.Admin.Status = false
	clients := settings(func(s *signin.Settings) { s.Addresses.Client.Status = true })
	asked := func(reason string) expected {
		return expected{checks: []signin.Check{{Kind: signin.CheckAddress, Methods: []string{"Email"}, Reason: reason}}}
	}
	decideAll(t, []sentence{
		{"an unfamiliar address is asked", from("192.0.2.1", "192.0.2.2"), on, full(), asked(signin.ReasonUnfamiliar)},
		{"a familiar one is not", from("192.0.2.1", "192.0.2.2", "192.0.2.1"), on, full(), expected{}},
		{"the same address in another form", from("::ffff:192.0.2.1", "192.0.2.1"), on, full(), expected{}},
		{"one on the exempt list is not", from("10.9.9.9", "192.0.2.2"), on, full(), expected{}},
		{"nor at the first sign-in", from("2001:db8::9"), on, full(), expected{}},
		{"the list of the other side does not count", asClientOf(from("10.9.9.9")), clients, full(), asked(signin.ReasonFirst)},
		{"the other side is not asked", asClient, on, full(), expected{}},
		{"switched off nobody is", from("192.0.2.1", "192.0.2.2"), off, full(), expected{}},
		{"the first sign-in is asked", from("192.0.2.1"), on, full(), asked(signin.ReasonFirst)},
		{"an address that nobody knows is asked", from("", "192.0.2.1"), on, full(), asked(signin.ReasonUnknown)},
		{"no module can send the code", from("192.0.2.1", "192.0.2.2"), on, signin.BuiltIn(false), expected{warns: []string{signin.WarnMailModule}}},
	})
}

func asClientOf(r signin.Request) signin.Request {
	r.Side = signin.Client
	return r
}

// TestAllChecksAtOnce: each is asked, in one order.
func TestAllChecksAtOnce(t *testing.T) {
	s := settings(func(s *signin.Settings) {
		s.TwoFactor = signin.TwoFactor{Authentications: []string{"totp"}, Client: true}
		s.Location.Client.Status, s.Addresses.Client.Status = true, true
		s.Localization.IPModule = "mmdb"
	})
	d := signin.Decide(signin.Request{Side: signin.Client, SetUpMethods: []string{"totp"}}, s, full())
	var kinds []signin.Kind
	for _, c := range d.Checks {
		kinds = append(kinds, c.Kind)
	}
	if diff := cmp.Diff([]signin.Kind{signin.CheckTwoFactor, signin.CheckLocation, signin.CheckAddress}, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestNobodyIsLockedOut: with any settings and modules, each check that is
// asked has an installed method, and the setting of one side does not affect
// the other.
func TestNobodyIsLockedOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string, of ...string) []string {
			return rapid.SliceOfDistinct(rapid.SampledFrom(of), func(s string) string { return s }).Draw(t, name)
		}
		flag := func(name string) signin.Flag { return signin.Flag(rapid.Bool().Draw(t, name)) }
		side := func(name string) signin.LocationSide {
			return signin.LocationSide{Status: flag(name), Method: rapid.SampledFrom([]string{"Email", "totp", "sms"}).Draw(t, name+" method"),
				Type: rapid.SampledFrom([]string{"country", "region", "city"}).Draw(t, name+" type")}
		}
		s := signin.Settings{
			TwoFactor:    signin.TwoFactor{Authentications: some("on", "totp", "email", "sms"), Admin: flag("admin"), Client: flag("client"), ShowPopup: flag("popup")},
			Location:     signin.Location{Admin: side("admin place"), Client: side("client place")},
			Addresses:    signin.Addresses{Admin: signin.AddressSide{Status: flag("admin ip")}, Client: signin.AddressSide{Status: flag("client ip")}},
			Localization: signin.Localization{IPModule: rapid.SampledFrom([]string{"", "mmdb", "coarse", "gone"}).Draw(t, "module")},
		}
		m := signin.BuiltIn(rapid.Bool().Draw(t, "mail"), full().Locations...)
		r := signin.Request{Side: signin.Admin, SetUpMethods: some("set up", "totp", "email", "sms")}
		d := signin.Decide(r, s, m)
		for _, c := range d.Checks {
			if len(c.Methods) == 0 || c.Reason == "" {
				t.Errorf("asked without a way to pass: %+v", c)
			}
			for _, key := range c.Methods {
				if key == signin.MethodEmail {
					key = signin.KeyEmail
				}
				if _, installed := m.Method(key); !installed {
					t.Errorf("%s is asked by %s, which is not installed", c.Kind, key)
				}
			}
		}
		s.TwoFactor.Client = !s.TwoFactor.Client
		s.Location.Client, s.Addresses.Client = signin.LocationSide{}, signin.AddressSide{}
		if diff := cmp.Diff(d, signin.Decide(r, s, m)); diff != "" {
			t.Errorf("the clients' settings matter to admins:\n%s", diff)
		}
	})
}
