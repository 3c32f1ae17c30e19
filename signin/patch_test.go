package signin_test

import (
	"encoding/json"
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
	// What stands may be sent again, also where the module has gone since.
	stands := signin.Location{Admin: signin.LocationSide{Method: signin.MethodEmail, Type: "city"}}
	got, err := signin.LocationPatch{Admin: errata.Sent(signin.LocationSidePatch{Type: city})}.Apply(stands, signin.BuiltIn(false), "")
	if err != nil || got != stands {
		t.Errorf("got %+v, %v", got, err)
	}
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
