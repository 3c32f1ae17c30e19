package signin

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Request is one sign-in whose password was right.
type Request struct {
	Side Side
	// SetUpMethods are the keys of the second-step methods that the user has
	// set up.
	SetUpMethods []string
	// Address is where the sign-in comes from, the zero Addr when nobody knows.
	Address netip.Addr
	// KnownAddresses are the addresses of earlier sign-ins of the account.
	KnownAddresses []netip.Addr
	// Place is where Address is, the zero Place when that is not known.
	Place Place
	// KnownPlaces are the places of earlier sign-ins of the account.
	KnownPlaces []Place
}

// Place is what a location module knows of an address; "" for what it does not
// know. Names are compared without regard to case.
type Place struct {
	// Country is the ISO 3166-1 code in upper case, "DE".
	Country string `json:"country,omitempty"`
	// Region is the ISO 3166-2 code without the country, "BE", or the name where
	// the module has no code.
	Region string `json:"region,omitempty"`
	// City is the English name.
	City string `json:"city,omitempty"`
}

// Kind is what is asked for.
type Kind string

// The kinds of checks.
const (
	CheckTwoFactor Kind = "two_factor"
	CheckLocation  Kind = "location"
	CheckAddress   Kind = "address"
)

// The reasons for a check.
const (
	// ReasonSetUp: users of this side are asked, and this one has set a method up.
	ReasonSetUp = "set_up"
	// ReasonUnfamiliar: no earlier sign-in was from there.
	ReasonUnfamiliar = "unfamiliar"
	// ReasonFirst: there was no earlier sign-in to compare with.
	ReasonFirst = "first_sign_in"
	// ReasonUnknown: it is not known where the sign-in comes from.
	ReasonUnknown = "unknown"
)

// Check is one thing to ask for.
type Check struct {
	Kind Kind `json:"kind"`
	// Methods are the methods that pass the check; one of them is enough. They
	// are the keys of second-step methods for CheckTwoFactor, else the names of
	// the methods that send the code. There is at least one.
	Methods []string `json:"methods"`
	Reason  string   `json:"reason"`
}

// Decision is what to do about a sign-in.
type Decision struct {
	// Checks must all be passed, in this order: second step, location, address.
	Checks []Check `json:"checks"`
	// Remind: remind the user to set a second step up.
	Remind bool `json:"remind"`
	// Warnings are checks that are on and cannot work, for the operator.
	Warnings []Warning `json:"warnings"`
	// Country is where the sign-in comes from, "" when that is not known.
	Country string `json:"place"`
}

// Decide says what is asked beyond the password. A check that nobody could
// pass, because no code can be sent, would lock everybody out: it is left out,
// with a warning. A check is asked when it is not known whether the sign-in is
// familiar: at an account's first sign-in, and when its address or place is not
// known.
func Decide(r Request, s Settings, m Modules) Decision {
	d := Decision{Checks: []Check{}, Warnings: []Warning{}, Country: r.Place.Country}
	d.twoFactor(r, s.TwoFactor, m)
	d.location(r, s, m)
	d.address(r, s.Addresses.Of(r.Side), m)
	return d
}

// twoFactor asks users who have set up a method that is on. Other users cannot
// be asked; they are reminded while their side is asked.
func (d *Decision) twoFactor(r Request, t TwoFactor, m Modules) {
	if !t.Of(r.Side) {
		return
	}
	var ready []string
	on := t.Within(m).Authentications
	for _, key := range on {
		if slices.Contains(r.SetUpMethods, key) {
			ready = append(ready, key)
		}
	}
	if len(ready) > 0 {
		d.Checks = append(d.Checks, Check{CheckTwoFactor, ready, ReasonSetUp})
		return
	}
	d.Remind = len(on) > 0 && bool(t.ShowPopup)
	if t.lacksMail(m) && slices.Contains(r.SetUpMethods, KeyEmail) {
		d.Warnings = append(d.Warnings, noSecondStepByMail())
	}
}

func (d *Decision) location(r Request, s Settings, m Modules) {
	l := s.Location.Of(r.Side)
	if !l.Status {
		return
	}
	method, ready := m.readySender(l.Method)
	module, installed := m.Location(s.Localization.IPModule)
	if !installed {
		d.Warnings = append(d.Warnings, noLocationModule(s.Localization.IPModule))
		if !ready { // both must be mended
			d.Warnings = append(d.Warnings, cannotSend("location", l.Method))
		}
		return
	}
	comparison := l.Type
	if !module.can(comparison) {
		comparison = TypeCountry
		d.Warnings = append(d.Warnings, cannotCompare(r.Side, l.Type, module.Key))
	}
	reason := familiarity(r.Place.known(comparison), len(r.KnownPlaces), func() bool {
		return slices.ContainsFunc(r.KnownPlaces, func(p Place) bool { return p.same(r.Place, comparison) })
	})
	if reason == "" {
		return
	}
	if !ready {
		d.Warnings = append(d.Warnings, cannotSend("location", l.Method))
		return
	}
	d.Checks = append(d.Checks, Check{CheckLocation, []string{method.sendName()}, reason})
}

func (d *Decision) address(r Request, a AddressSide, m Modules) {
	if !bool(a.Status) || a.Whitelist.Contains(r.Address) {
		return
	}
	from := plain(r.Address)
	reason := familiarity(from.IsValid(), len(r.KnownAddresses), func() bool {
		return slices.ContainsFunc(r.KnownAddresses, func(known netip.Addr) bool { return plain(known) == from })
	})
	if reason == "" {
		return
	}
	methods := m.senders()
	if len(methods) == 0 {
		d.Warnings = append(d.Warnings, cannotSend("address", MethodEmail))
		return
	}
	d.Checks = append(d.Checks, Check{CheckAddress, methods, reason})
}

// familiarity is the reason to ask, "" for none.
func familiarity(located bool, earlier int, seen func() bool) string {
	switch {
	case !located:
		return ReasonUnknown
	case earlier == 0:
		return ReasonFirst
	case !seen():
		return ReasonUnfamiliar
	}
	return ""
}

func cannotSend(what, method string) Warning {
	if strings.EqualFold(method, MethodEmail) {
		return noMail("The check for an unfamiliar " + what + " is on and asks nobody")
	}
	return Warning{WarnMethod, fmt.Sprintf("The check for an unfamiliar %s is on and asks nobody, because the method %s cannot send the code; install it or set another.", what, quoted(method))}
}

// noMail warns of the effect that the lack of a mail module has.
func noMail(effect string) Warning {
	return Warning{WarnMailModule, effect + ", because no mail module is configured to send the code; configure one."}
}

func noSecondStepByMail() Warning { return noMail("The second step by e-mail is on and asks nobody") }

// known says whether the place has what the comparison needs.
func (p Place) known(comparison string) bool {
	switch comparison {
	case TypeCity:
		return p.Country != "" && p.City != ""
	case TypeRegion:
		return p.Country != "" && p.Region != ""
	default:
		return p.Country != ""
	}
}

// same says whether the comparison takes both for one place. Two regions may
// have a city of the same name, and two countries a region.
func (p Place) same(q Place, comparison string) bool {
	switch comparison {
	case TypeCity:
		return strings.EqualFold(p.City, q.City) && p.same(q, TypeRegion)
	case TypeRegion:
		return strings.EqualFold(p.Region, q.Region) && p.same(q, TypeCountry)
	default:
		return strings.EqualFold(p.Country, q.Country)
	}
}
