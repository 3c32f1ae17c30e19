package api

import "github.com/errata-log/errata/signin"

// readTwoFactor is A1.
func (s *service) readTwoFactor(c *call) (answer, error) {
	return told(s.Security.ReadTwoFactor(c.Request.Context()))
}

// updateTwoFactor is A2. Everything is checked before anything is changed.
func (s *service) updateTwoFactor(c *call) (answer, error) {
	var patch signin.TwoFactorPatch
	if err := c.bind(&patch); err != nil {
		return answer{}, err
	}
	return told(s.Security.UpdateTwoFactor(c.Request.Context(), patch))
}

// listTwoFactorMethods is A3: the installed methods.
func (s *service) listTwoFactorMethods(c *call) (answer, error) {
	return told(s.Security.ReadMethods(c.Request.Context()))
}
