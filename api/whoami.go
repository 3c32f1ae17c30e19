package api

import (
	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// whoamiJSON is what a caller may know of its own key, and of the service that
// it reached: what a page needs to show only what will work.
type whoamiJSON struct {
	Name      string         `json:"name"`
	Kind      access.Kind    `json:"kind"`
	ID        string         `json:"id"`
	Scopes    []access.Scope `json:"scopes"`
	ExpiresAt instant        `json:"expires_at"`
	// Address is the caller's as the service sees it.
	Address string `json:"address"`
	Version string `json:"version"`
	// Development is the setting of that name.
	Development bool `json:"development"`
	// Alarms are those that stand, for everybody who is signed in.
	Alarms []alarmJSON `json:"alarms"`
}

// alarmJSON is an alarm as a page shows it.
type alarmJSON struct {
	Name   string  `json:"name"`
	Detail string  `json:"detail"`
	Hint   string  `json:"hint"`
	Since  instant `json:"since"`
}

func alarmsOf(standing []errata.Alarm) []alarmJSON {
	list := make([]alarmJSON, 0, len(standing))
	for _, a := range standing {
		list = append(list, alarmJSON{Name: a.Name, Detail: a.Detail, Hint: a.Hint, Since: instant(a.Since)})
	}
	return list
}

// whoami tells callers about themselves.
func (s *service) whoami(c *call) (answer, error) {
	data := whoamiJSON{
		Name: c.key.Name, Kind: c.key.Kind, ID: c.key.ID, Scopes: c.key.Scopes,
		ExpiresAt: instant(c.key.ExpiresAt), Address: c.client().String(), Version: s.Version,
		Development: s.LogSettings.Logging().Development, Alarms: alarmsOf(s.Health.Alarms()),
	}
	if !c.client().IsValid() {
		data.Address = "" // not TCP, so there is none
	}
	return answer{data: data}, nil
}
