package signin

import (
	"fmt"
	"slices"
	"strings"
)

// Side is whose sign-in it is.
type Side string

// The sides.
const (
	Admin  Side = "admin"
	Client Side = "client"
)

func choose[T any](side Side, admin, client T) T {
	if side == Admin {
		return admin
	}
	return client
}

// Flag is a switch, 0 or 1 in JSON; false and true are read too.
type Flag bool

// MarshalJSON writes 0 or 1.
func (f Flag) MarshalJSON() ([]byte, error) {
	if f {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

// UnmarshalJSON reads 0, 1, false or true.
func (f *Flag) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "1", "true":
		*f = true
	case "0", "false":
		*f = false
	default:
		return fmt.Errorf("%s is neither 0 nor 1", data)
	}
	return nil
}

// The method that sends a code, and the types of comparison.
const (
	// MethodEmail sends the code by the mail module.
	MethodEmail = "Email"

	TypeCountry = "country"
	TypeRegion  = "region"
	TypeCity    = "city"
)

// Settings are all settings of the package at one moment.
type Settings struct {
	TwoFactor    TwoFactor
	Location     Location
	Addresses    Addresses
	Localization Localization
}

// Standard is in force until somebody sets something: nothing is asked.
func Standard() Settings {
	location := LocationSide{Method: MethodEmail, Type: TypeCountry}
	return Settings{
		TwoFactor: TwoFactor{Authentications: []string{}},
		Location:  Location{Admin: location, Client: location},
	}
}

// TwoFactor are the settings of the second step.
type TwoFactor struct {
	// Authentications are the keys of the methods that are on, each once, in
	// the order they were sent. It is read only.
	Authentications []string `json:"authentications"`
	// Admin and Client ask that side for the second step. They take effect
	// only while a method is on.
	Admin  Flag `json:"admin"`
	Client Flag `json:"client"`
	// ShowPopup reminds users without a method to set one up.
	ShowPopup Flag `json:"show_popup"`
}

// Of is the switch of a side.
func (t TwoFactor) Of(side Side) Flag { return choose(side, t.Admin, t.Client) }

// Within is the setting without the methods that are not installed: they are
// off, even if they were switched on while they were installed.
func (t TwoFactor) Within(m Modules) TwoFactor {
	on := make([]string, 0, len(t.Authentications))
	for _, key := range t.Authentications {
		if _, installed := m.Method(key); installed {
			on = append(on, key)
		}
	}
	t.Authentications = on
	return t
}

// Equal says whether both are the same setting.
func (t TwoFactor) Equal(u TwoFactor) bool {
	return t.Admin == u.Admin && t.Client == u.Client && t.ShowPopup == u.ShowPopup &&
		slices.Equal(t.Authentications, u.Authentications)
}

// Location are the settings of the check for unfamiliar places.
type Location struct {
	Admin  LocationSide `json:"admin"`
	Client LocationSide `json:"client"`
}

// LocationSide is one side of Location.
type LocationSide struct {
	Status Flag `json:"status"`
	// Method sends the code: MethodEmail, or the key of another method.
	Method string `json:"method"`
	// Type is what makes two places the same: country, region or city.
	Type string `json:"type"`
}

// Of is the setting of a side.
func (l Location) Of(side Side) LocationSide { return choose(side, l.Admin, l.Client) }

// Addresses are the settings of the check for unfamiliar addresses.
type Addresses struct {
	Admin  AddressSide `json:"admin"`
	Client AddressSide `json:"client"`
}

// AddressSide is one side of Addresses.
type AddressSide struct {
	Status Flag `json:"status"`
	// Whitelist are the addresses that are not asked.
	Whitelist Whitelist `json:"whitelist"`
}

// Of is the setting of a side.
func (a Addresses) Of(side Side) AddressSide { return choose(side, a.Admin, a.Client) }

// Equal says whether both are the same setting.
func (a Addresses) Equal(b Addresses) bool {
	return a.Admin.Status == b.Admin.Status && a.Client.Status == b.Client.Status &&
		a.Admin.Whitelist.Equal(b.Admin.Whitelist) && a.Client.Whitelist.Equal(b.Client.Whitelist)
}

// Localization says how places are worked out.
type Localization struct {
	// IPModule is the key of the location module, "" for none.
	IPModule string `json:"ip_module"`
}

// Warning says what of a setting or decision may surprise.
type Warning struct {
	// Code is for programs, Message tells a person what to do.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The codes of warnings.
const (
	// WarnLocationModule: no location module is chosen, or it is not installed.
	WarnLocationModule = "location_module_missing"
	// WarnLocationType: the location module cannot tell what is compared.
	WarnLocationType = "location_type_unavailable"
	// WarnMailModule: no mail module is configured, so no code can be sent.
	WarnMailModule = "mail_module_missing"
	// WarnMethod: the method that should send the code is not installed.
	WarnMethod = "method_missing"
	// WarnCallerNotExempt: the caller's own address will be asked.
	WarnCallerNotExempt = "caller_not_exempt"
)

// shortened shortens a caller's text so that it can stand in an answer.
func shortened(text string) string {
	const most = 64 // longer than any address or name
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func quoted(text string) string { return fmt.Sprintf("%q", shortened(text)) }
