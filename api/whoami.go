package api

import (
	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// whoamiJSON is what a caller learns of its own key and of the service. The
// page needs it to show only what will work.
type whoamiJSON struct {
	Name   string         `json:"name"`
	Kind   access.Kind    `json:"kind"`
	ID     string         `json:"id"`
	Scopes []access.Scope `json:"scopes"`
	// Projects are those of a limited key; empty for a key that sees all projects.
	Projects  []uint64       `json:"projects"`
	ExpiresAt errata.Instant `json:"expires_at"`
	// Address is the caller's as the service sees it.
	Address string `json:"address"`
	Version string `json:"version"`
	// Development is the setting of that name.
	Development bool `json:"development"`
	// Alarms are those that stand, for everybody who is signed in.
	Alarms []errata.Alarm `json:"alarms"`
}

// whoami tells callers about themselves.
func (s *service) whoami(c *call) (answer, error) {
	data := whoamiJSON{
		Name: c.key.Name, Kind: c.key.Kind, ID: c.key.ID, Scopes: c.key.Scopes, Projects: orEmpty(c.key.Projects),
		ExpiresAt: errata.Instant(c.key.ExpiresAt), Address: c.client().String(), Version: s.Version,
		Development: s.LogSettings.Logging().Development, Alarms: c.ownAlarms(s.Health.Alarms()),
	}
	if !c.client().IsValid() {
		data.Address = "" // not TCP, so there is none
	}
	return answer{data: data}, nil
}
