package signin

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// TwoFactorPatch changes what was sent. In each patch the order of the fields is
// that in which errors are told.
type TwoFactorPatch struct {
	Admin     errata.Optional[Flag] `json:"admin"`
	Client    errata.Optional[Flag] `json:"client"`
	ShowPopup errata.Optional[Flag] `json:"show_popup"`
	// Authentications replaces the whole list.
	Authentications errata.Optional[[]string] `json:"authentications"`
}

// Apply is the setting after the patch. A key that is sent twice counts once,
// and one that names no installed method is ignored.
func (p TwoFactorPatch) Apply(t TwoFactor, m Modules) TwoFactor {
	if keys, sent := p.Authentications.Get(); sent {
		on := []string{}
		for _, key := range keys {
			if _, installed := m.Method(key); installed && !slices.Contains(on, key) {
				on = append(on, key)
			}
		}
		t.Authentications = on
	}
	t.Admin, t.Client, t.ShowPopup = p.Admin.Or(t.Admin), p.Client.Or(t.Client), p.ShowPopup.Or(t.ShowPopup)
	return t
}

// Warnings says what of the setting may surprise. A key that is ignored because
// its method was never installed is no surprise, see [TwoFactorPatch.Apply].
func (t TwoFactor) Warnings(m Modules) []Warning {
	if bool(t.Admin || t.Client) && t.lacksMail(m) {
		return []Warning{noSecondStepByMail()}
	}
	return nil
}

// lacksMail says whether codes by e-mail were switched on and cannot be sent any
// more.
func (t TwoFactor) lacksMail(m Modules) bool {
	_, installed := m.Method(KeyEmail)
	return !installed && slices.Contains(t.Authentications, KeyEmail)
}

// LocationPatch changes the sides that were sent.
type LocationPatch struct {
	Admin  errata.Optional[LocationSidePatch] `json:"admin"`
	Client errata.Optional[LocationSidePatch] `json:"client"`
}

// LocationSidePatch changes what was sent.
type LocationSidePatch struct {
	Status errata.Optional[Flag]   `json:"status"`
	Method errata.Optional[string] `json:"method"`
	Type   errata.Optional[string] `json:"type"`
}

// Apply is the setting after the patch, with both sides checked. A value in force
// is no change, even if its module is gone since: what was read can be put back.
// So a method is checked when it becomes another one and when its side is
// switched on. chosen is the key of the location module. Errors:
// *[errata.Error] mail_module_required, invalid_method,
// invalid_verification_type, which name the field.
func (p LocationPatch) Apply(l Location, m Modules, chosen string) (Location, error) {
	for _, side := range []struct {
		name  Side
		to    *LocationSide
		patch errata.Optional[LocationSidePatch]
	}{{Admin, &l.Admin, p.Admin}, {Client, &l.Client, p.Client}} {
		if err := side.patch.Or(LocationSidePatch{}).apply(side.to, side.name, m, chosen); err != nil {
			return Location{}, err
		}
	}
	return l, nil
}

func (p LocationSidePatch) apply(l *LocationSide, side Side, m Modules, chosen string) error {
	status := p.Status.Or(l.Status)
	switchedOn := bool(status && !l.Status)
	l.Status = status
	if name := p.Method.Or(l.Method); switchedOn || !strings.EqualFold(name, l.Method) {
		method, err := sendable(name, side, m)
		if err != nil {
			return err
		}
		l.Method = method
	}
	if name := p.Type.Or(l.Type); !strings.EqualFold(name, l.Type) {
		comparison, err := comparisonIn(name, side, m, chosen)
		if err != nil {
			return err
		}
		l.Type = comparison
	}
	return nil
}

// sendable is the name of the method in settings, when it can send a code.
func sendable(name string, side Side, m Modules) (string, error) {
	field := string(side) + ".method"
	var err *errata.Error
	method, installed := m.sender(name)
	switch {
	case installed && method.CanSendCode:
		return method.sendName(), nil
	case strings.EqualFold(name, MethodEmail):
		err = errata.Errorf(errata.KindMailModuleRequired,
			"The field %s asks for codes by e-mail, and no mail module is configured; configure one first.", field)
	case installed:
		err = errata.Errorf(errata.KindInvalidMethod,
			"The field %s is %s, a method that cannot send a code; %s.", field, quoted(name), choice(m.senders()))
	default:
		err = errata.Errorf(errata.KindInvalidMethod,
			"The field %s is %s, which is no installed method; %s.", field, quoted(name), choice(m.senders()))
	}
	return "", err.With(map[string]any{"field": field, "allowed": append([]string{}, m.senders()...)})
}

func choice(names []string) string {
	if len(names) == 0 {
		return "none that can send codes is installed, configure a mail module for " + MethodEmail
	}
	return "send one of " + strings.Join(names, ", ")
}

// comparisonIn is the kind of comparison in its normal form. country is always
// allowed; region and city only where the module in use can tell them.
func comparisonIn(name string, side Side, m Modules, chosen string) (string, error) {
	module, installed := m.Location(chosen)
	allowed := []string{TypeCountry}
	for _, finer := range []string{TypeRegion, TypeCity} {
		if installed && module.can(finer) {
			allowed = append(allowed, finer)
		}
	}
	for _, known := range allowed {
		if strings.EqualFold(known, name) {
			return known, nil
		}
	}
	field := string(side) + ".type"
	return "", errata.Errorf(errata.KindInvalidVerificationType, "The field %s is %s; what can be compared now is %s, and more with a location module that can tell it.",
		field, quoted(name), strings.Join(allowed, ", ")).
		With(map[string]any{"field": field, "allowed": allowed})
}

// Warnings says what of the setting may surprise.
func (l Location) Warnings(m Modules, chosen string) []Warning {
	var warnings []Warning
	module, installed := m.Location(chosen)
	for _, side := range []Side{Admin, Client} {
		of := l.Of(side)
		if !of.Status {
			continue
		}
		if !installed {
			warnings = with(warnings, noLocationModule(chosen))
		} else if !module.can(of.Type) {
			warnings = with(warnings, cannotCompare(side, of.Type, chosen))
		}
		if _, ready := m.readySender(of.Method); !ready {
			warnings = with(warnings, cannotSend("location", of.Method))
		}
	}
	return warnings
}

// with adds a warning once, also where both sides give it.
func with(warnings []Warning, more Warning) []Warning {
	if slices.Contains(warnings, more) {
		return warnings
	}
	return append(warnings, more)
}

func noLocationModule(chosen string) Warning {
	text := "The check for unfamiliar locations is on and asks nobody, because no location module is chosen; choose one as ip_module in the localization settings."
	if chosen != "" {
		text = fmt.Sprintf("The check for unfamiliar locations is on and asks nobody, because the location module %s is not installed; install it, or choose another as ip_module in the localization settings.", quoted(chosen))
	}
	return Warning{WarnLocationModule, text}
}

func cannotCompare(side Side, comparison, chosen string) Warning {
	return Warning{WarnLocationType, fmt.Sprintf(
		"The check for unfamiliar locations of the side %s compares by country, because the location module %s cannot tell the %s; choose another module or the type country.", side, quoted(chosen), comparison)}
}

// AddressesPatch changes the sides that were sent.
type AddressesPatch struct {
	Admin  errata.Optional[AddressSidePatch] `json:"admin"`
	Client errata.Optional[AddressSidePatch] `json:"client"`
}

// AddressSidePatch changes what was sent.
type AddressSidePatch struct {
	Status errata.Optional[Flag] `json:"status"`
	// Whitelist replaces the whole list.
	Whitelist errata.Optional[Whitelist] `json:"whitelist"`
}

// Apply is the setting after the patch.
func (p AddressesPatch) Apply(a Addresses) Addresses {
	a.Admin, a.Client = p.Admin.Or(AddressSidePatch{}).apply(a.Admin), p.Client.Or(AddressSidePatch{}).apply(a.Client)
	return a
}

func (p AddressSidePatch) apply(a AddressSide) AddressSide {
	return AddressSide{Status: p.Status.Or(a.Status), Whitelist: p.Whitelist.Or(a.Whitelist)}
}

// Warnings says what of the setting after the patch may surprise. The admin who
// has just made the patch from the address learns that every sign-in from there
// is asked, unless the patch does not change the side of admins.
func (p AddressesPatch) Warnings(a Addresses, m Modules, caller netip.Addr) []Warning {
	var warnings []Warning
	canAsk := len(m.senders()) > 0
	if p.Admin.IsSent() && bool(a.Admin.Status) && !a.Admin.Whitelist.Contains(caller) {
		warnings = append(warnings, notExempt(caller, canAsk))
	}
	if bool(a.Admin.Status || a.Client.Status) && !canAsk {
		warnings = append(warnings, cannotSend("address", MethodEmail))
	}
	return warnings
}

// notExempt warns a caller; canAsk says whether a code can be sent at present.
func notExempt(caller netip.Addr, canAsk bool) Warning {
	from := "Your address is not known, so it cannot be on the list"
	if caller.IsValid() {
		from = fmt.Sprintf("Your address %s is not on the list", plain(caller))
	}
	when := "whenever the address is unfamiliar"
	if !canAsk {
		when = "as soon as a code can be sent, whenever the address is unfamiliar"
	}
	return Warning{WarnCallerNotExempt, from + ": sign-ins of admins from there are asked for the extra check " + when +
		". Add it to admin.whitelist, or switch the check off on the host with \"errata security reset-ip\"."}
}

// LocalizationPatch changes what was sent.
type LocalizationPatch struct {
	IPModule errata.Optional[string] `json:"ip_module"`
}

// Apply is the setting after the patch. The module in force may be sent again,
// even if it is gone since. Errors: *[errata.Error] invalid_ip_module for
// another module that is not installed.
func (p LocalizationPatch) Apply(l Localization, m Modules) (Localization, error) {
	key := p.IPModule.Or(l.IPModule)
	if key == l.IPModule {
		return l, nil
	}
	if _, installed := m.Location(key); !installed && key != "" {
		allowed := []string{""}
		for _, module := range m.Locations {
			allowed = append(allowed, module.Key)
		}
		text := "none is installed"
		if len(allowed) > 1 {
			text = "installed are " + strings.Join(allowed[1:], ", ")
		}
		return Localization{}, errata.Errorf(errata.KindInvalidIPModule, "The field ip_module is %s, which is no installed location module; %s, and \"\" chooses none.", quoted(key), text).
			With(map[string]any{"field": "ip_module", "allowed": allowed})
	}
	return Localization{IPModule: key}, nil
}
