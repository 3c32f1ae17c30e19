package api

import "github.com/errata-log/errata/signin"

// readAddresses is A6.
func (s *service) readAddresses(c *call) (answer, error) {
	return told(s.Security.ReadAddresses(c.Request.Context()))
}

// updateAddresses is A7. Both sides are checked before anything is changed.
func (s *service) updateAddresses(c *call) (answer, error) {
	var patch signin.AddressesPatch
	if err := c.bind(&patch); err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateAddresses(c.Request.Context(), patch, c.client()))
}
