package api

import "github.com/errata-log/errata/signin"

// readLocation is A4.
func (s *service) readLocation(c *call) (answer, error) {
	return told(s.Security.ReadLocation(c.Request.Context()))
}

// updateLocation is A5. Both sides are checked before anything is changed.
func (s *service) updateLocation(c *call) (answer, error) {
	var patch signin.LocationPatch
	if err := c.bind(&patch); err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateLocation(c.Request.Context(), patch))
}
