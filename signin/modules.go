package signin

import (
	"slices"
	"strings"
)

// Modules describes what is installed. It does not change while the service
// runs.
type Modules struct {
	// Methods are the second-step methods, in the order they are listed.
	Methods []Method
	// Locations are the location modules that can be chosen.
	Locations []LocationModule
}

// Method is a method of the second step.
type Method struct {
	// Key names it in settings and in what users have set up.
	Key string `json:"key"`
	// Name is for people.
	Name string `json:"name"`
	// CanSendCode says that the service can send a code by it, even to users
	// who have not set it up. An authenticator app cannot.
	CanSendCode bool `json:"-"`
}

// MethodState is an installed method as administrators see it.
type MethodState struct {
	Method
	Enabled   bool `json:"enabled"`
	Installed bool `json:"installed"`
}

// LocationModule tells where an address is.
type LocationModule struct {
	Key string
	// Country, Region and City say which of these it can tell.
	Country, Region, City bool
}

const (
	// KeyEmail is the key of the method that sends codes by the mail module. The
	// settings of places call it MethodEmail.
	KeyEmail = "email"
	// KeyTOTP is the key of authenticator apps.
	KeyTOTP = "totp"
)

// BuiltIn are the modules that come with the service: authenticator apps
// always, e-mail where a mail module is configured.
func BuiltIn(mail bool, locations ...LocationModule) Modules {
	m := Modules{Methods: []Method{{Key: KeyTOTP, Name: "Authenticator app"}}, Locations: locations}
	if mail {
		m.Methods = append(m.Methods, Method{Key: KeyEmail, Name: MethodEmail, CanSendCode: true})
	}
	return m
}

// Method finds an installed method by its key.
func (m Modules) Method(key string) (Method, bool) {
	return find(m.Methods, func(method Method) bool { return method.Key == key })
}

func find[T any](list []T, wanted func(T) bool) (found T, ok bool) {
	if at := slices.IndexFunc(list, wanted); at >= 0 {
		return list[at], true
	}
	return found, false
}

// States are the installed methods, with what the setting switches on.
func (m Modules) States(t TwoFactor) []MethodState {
	states := make([]MethodState, len(m.Methods))
	for i, method := range m.Methods {
		states[i] = MethodState{method, slices.Contains(t.Authentications, method.Key), true}
	}
	return states
}

// Location finds an installed location module by its key.
func (m Modules) Location(key string) (LocationModule, bool) {
	return find(m.Locations, func(l LocationModule) bool { return l.Key == key && key != "" })
}

// sender finds the installed method that a setting of places names; the case of
// the name does not matter.
func (m Modules) sender(name string) (Method, bool) {
	return find(m.Methods, func(method Method) bool { return strings.EqualFold(method.Key, name) })
}

// readySender is sender; ready says whether the method can send a code.
func (m Modules) readySender(name string) (method Method, ready bool) {
	method, installed := m.sender(name)
	return method, installed && method.CanSendCode
}

// senders are the names of the methods that can send a code, as settings of
// places have them.
func (m Modules) senders() []string {
	var names []string
	for _, method := range m.Methods {
		if method.CanSendCode {
			names = append(names, method.sendName())
		}
	}
	return names
}

// sendName is what settings of places call the method.
func (m Method) sendName() string {
	if m.Key == KeyEmail {
		return MethodEmail
	}
	return m.Key
}

// can says whether the module can tell what the comparison needs.
func (l LocationModule) can(comparison string) bool {
	switch comparison {
	case TypeCountry:
		return l.Country
	case TypeRegion:
		return l.Region
	case TypeCity:
		return l.City
	}
	return false
}
