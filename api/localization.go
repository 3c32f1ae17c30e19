package api

import "github.com/errata-log/errata/signin"

// readLocalization shows how places are worked out.
func (s *service) readLocalization(c *call) (answer, error) {
	return told(s.Security.ReadLocalization(c.Request.Context()))
}

// updateLocalization chooses the location module. It warns when a check that
// is on needs another one.
func (s *service) updateLocalization(c *call) (answer, error) {
	var patch signin.LocalizationPatch
	if err := c.bind(&patch); err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateLocalization(c.Request.Context(), patch))
}
