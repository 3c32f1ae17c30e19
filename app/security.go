package app

import (
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin"
)

// securitySettings are the settings of sign-ins as the API sees them.
type securitySettings struct {
	*settings.Store
	modules func() signin.Modules
}

var _ api.SecuritySettings = securitySettings{}

// Modules is what is installed.
func (s securitySettings) Modules() signin.Modules { return s.modules() }

// modules is what sign-ins can be checked with: the code generator always, the
// rest as the options say.
func (a *App) modules() signin.Modules {
	return signin.BuiltIn(a.options.MailConfigured, a.options.LocationModules...)
}
