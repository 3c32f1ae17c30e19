package signin_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin"
)

// TestPatchesKeepTheRest: a patch changes what it names and nothing else, and
// what was read can be sent again.
func TestPatchesKeepTheRest(t *testing.T) {
	flag := rapid.Bool()
	keys := rapid.SliceOfN(rapid.SampledFrom([]string{"totp", "email", "sms", "x"}), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		before := signin.TwoFactor{Authentications: []string{"email"}, Admin: signin.Flag(flag.Draw(t, "admin")), ShowPopup: true}
		var p signin.TwoFactorPatch
		want := before
		if rapid.Bool().Draw(t, "sends the list") {
			sent := keys.Draw(t, "list")
			p.Authentications = errata.Sent(sent)
			want.Authentications = []string{}
			for _, key := range sent {
				if (key == "totp" || key == "email") && !slices.Contains(want.Authentications, key) {
					want.Authentications = append(want.Authentications, key)
				}
			}
		}
		if rapid.Bool().Draw(t, "sends client") {
			on := flag.Draw(t, "client")
			p.Client, want.Client = errata.Sent(signin.Flag(on)), signin.Flag(on)
		}
		got := p.Apply(before, full())
		if diff := cmp.Diff(want, got); diff != "" || !got.Equal(want) {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if again := (signin.TwoFactorPatch{Authentications: errata.Sent(got.Authentications)}).Apply(got, full()); !again.Equal(got) {
			t.Fatalf("what was read and sent again became %+v", again)
		}
	})
}

// TestLocationIsCheckedWhole: one wrong side means that nothing changes.
func TestLocationIsCheckedWhole(t *testing.T) {
	on, totp := errata.Sent(signin.Flag(true)), errata.Sent("totp")
	planet, city := errata.Sent("planet"), errata.Sent("city")
	for _, c := range []struct {
		patch   signin.LocationPatch
		modules signin.Modules
		want    errata.Kind
	}{
		{signin.LocationPatch{Admin: errata.Sent(signin.LocationSidePatch{Status: on}), Client: errata.Sent(signin.LocationSidePatch{Method: totp})}, full(), errata.KindInvalidMethod},
		{signin.LocationPatch{Admin: errata.Sent(signin.LocationSidePatch{Status: on}), Client: errata.Sent(signin.LocationSidePatch{Type: planet})}, full(), errata.KindInvalidVerificationType},
		{signin.LocationPatch{Admin: errata.Sent(signin.LocationSidePatch{Type: city})}, signin.BuiltIn(true), errata.KindInvalidVerificationType},
		{signin.LocationPatch{Client: errata.Sent(signin.LocationSidePatch{Status: on})}, signin.BuiltIn(false), errata.KindMailModuleRequired},
	} {
		got, err := c.patch.Apply(signin.Standard().Location, c.modules, "mmdb")
		if errata.KindOf(err) != c.want || got != (signin.Location{}) {
			t.Errorf("got %+v, %v, want %s", got, err, c.want)
		}
	}
}

// TestWhatStandsMayBeSentAgain: also where its module has gone since, by itself
// or with other values, and in any case.
func TestWhatStandsMayBeSentAgain(t *testing.T) {
	on := errata.Sent(signin.Flag(true))
	stands := signin.Location{
		Admin:  signin.LocationSide{Method: signin.MethodEmail, Type: "city"},
		Client: signin.LocationSide{Status: true, Method: "sms", Type: "region"},
	}
	for _, side := range []signin.LocationSidePatch{
		{Type: errata.Sent("city")},
		{Type: errata.Sent("City")},
		{Method: errata.Sent("email")},
		{Status: errata.Sent(signin.Flag(false)), Method: errata.Sent(signin.MethodEmail), Type: errata.Sent("city")},
	} {
		got, err := signin.LocationPatch{
			Admin:  errata.Sent(side),
			Client: errata.Sent(signin.LocationSidePatch{Status: on, Method: errata.Sent("SMS"), Type: errata.Sent("region")}),
		}.Apply(stands, signin.BuiltIn(false), "")
		if err != nil || got != stands {
			t.Errorf("%+v: got %+v, %v", side, got, err)
		}
	}
	// With another value beside it, too; but nothing is switched on that cannot work.
	same := signin.LocationSidePatch{Status: on, Method: errata.Sent("sms"), Type: errata.Sent("country")}
	if got, err := (signin.LocationPatch{Client: errata.Sent(same)}).Apply(stands, signin.BuiltIn(false), ""); err != nil || got.Client.Type != "country" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := (signin.LocationPatch{Admin: errata.Sent(signin.LocationSidePatch{Status: on})}).Apply(stands, signin.BuiltIn(false), ""); errata.KindOf(err) != errata.KindMailModuleRequired {
		t.Errorf("switched on without a mail module: %v", err)
	}
	gone := signin.Localization{IPModule: "gone"}
	if got, err := (signin.LocalizationPatch{IPModule: errata.Sent("gone")}).Apply(gone, signin.BuiltIn(false)); err != nil || got != gone {
		t.Errorf("a location module that is gone: %+v, %v", got, err)
	}
}

// TestWarningsWithoutMail: each setting that asks for a mailed code says that
// none can be sent, for either side, and once for both.
func TestWarningsWithoutMail(t *testing.T) {
	without, mail := signin.BuiltIn(false, full().Locations...), []string{signin.WarnMailModule}
	for _, c := range []struct {
		what          string
		admin, client signin.Flag
		want          []string
	}{
		{"nobody is asked", false, false, nil},
		{"admins are", true, false, mail},
		{"clients are", false, true, mail},
		{"both are", true, true, mail},
	} {
		location := signin.LocationSide{Method: signin.MethodEmail, Type: signin.TypeCountry}
		l := signin.Location{Admin: location, Client: location}
		l.Admin.Status, l.Client.Status = c.admin, c.client
		a := signin.Addresses{Admin: signin.AddressSide{Status: c.admin}, Client: signin.AddressSide{Status: c.client}}
		two := signin.TwoFactor{Authentications: []string{signin.KeyEmail, signin.KeyTOTP}, Admin: c.admin, Client: c.client}
		caller := netip.MustParseAddr("192.0.2.1")
		for setting, of := range map[string]func(signin.Modules) []signin.Warning{
			"second step": two.Warnings,
			"location":    func(m signin.Modules) []signin.Warning { return l.Warnings(m, "mmdb") },
			"address":     func(m signin.Modules) []signin.Warning { return signin.AddressesPatch{}.Warnings(a, m, caller) },
		} {
			if diff := cmp.Diff(c.want, codesOf(of(without))); diff != "" {
				t.Errorf("%s, %s, without mail (-want +got):\n%s", setting, c.what, diff)
			}
			if got := of(full()); len(got) > 0 {
				t.Errorf("%s, %s, with mail: %+v", setting, c.what, got)
			}
		}
	}
	off := signin.TwoFactor{Authentications: []string{signin.KeyTOTP}, Admin: true}
	if got := off.Warnings(without); len(got) > 0 {
		t.Errorf("e-mail is off: %+v", got)
	}
}

func codesOf(warnings []signin.Warning) (codes []string) {
	for _, w := range warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func TestFlag(t *testing.T) {
	for text, want := range map[string]signin.Flag{"0": false, "1": true, "false": false, "true": true} {
		f := !want
		if err := json.Unmarshal([]byte(text), &f); err != nil || f != want {
			t.Errorf("%s: %v, %v", text, f, err)
		}
	}
	for _, text := range []string{"2", `"1"`, "null", "-0", "1.0"} {
		f := signin.Flag(true)
		if err := json.Unmarshal([]byte(text), &f); err == nil {
			t.Errorf("%s was read as %v", text, f)
		}
	}
	if text, err := json.Marshal(signin.Standard().TwoFactor); err != nil || string(text) != `{"authentications":[],"admin":0,"client":0,"show_popup":0}` {
		t.Errorf("%s, %v", text, err)
	}
}
