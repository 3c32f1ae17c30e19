package api

import (
	"encoding/json"

	"github.com/errata-log/errata/signin"
)

// locationSideBody is a block of the body of A5.
type locationSideBody struct {
	Status json.RawMessage `json:"status"`
	Method json.RawMessage `json:"method"`
	Type   json.RawMessage `json:"type"`
}

// readLocation is A4.
func (s *service) readLocation(c *call) (answer, error) {
	return told(s.Security.ReadLocation(c.Request.Context()))
}

// updateLocation is A5. Both sides are checked before anything is changed.
func (s *service) updateLocation(c *call) (answer, error) {
	var body sidesBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	patch, err := body.location()
	if err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateLocation(c.Request.Context(), patch))
}

func (b *sidesBody) location() (p signin.LocationPatch, err error) {
	for _, side := range []struct {
		name string
		sent json.RawMessage
		to   **signin.LocationSidePatch
	}{{"admin", b.Admin, &p.Admin}, {"client", b.Client, &p.Client}} {
		if side.sent == nil {
			continue
		}
		var block locationSideBody
		if err := object(side.name, side.sent, &block); err != nil {
			return p, err
		}
		*side.to = &signin.LocationSidePatch{}
		if err := optionalSwitch(side.name+".status", block.Status, &(*side.to).Status); err != nil {
			return p, err
		}
		if err := optionalText(side.name+".method", block.Method, &(*side.to).Method); err != nil {
			return p, err
		}
		if err := optionalText(side.name+".type", block.Type, &(*side.to).Type); err != nil {
			return p, err
		}
	}
	return p, nil
}
