package api

import (
	"encoding/json"

	"github.com/errata-log/errata/signin"
)

// addressSideBody is a block of the body of A7.
type addressSideBody struct {
	Status    json.RawMessage `json:"status"`
	Whitelist json.RawMessage `json:"whitelist"`
}

// readAddresses is A6.
func (s *service) readAddresses(c *call) (answer, error) {
	return told(s.Security.ReadAddresses(c.Request.Context()))
}

// updateAddresses is A7. Both sides are checked before anything is changed.
func (s *service) updateAddresses(c *call) (answer, error) {
	var body sidesBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	patch, err := body.addresses()
	if err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateAddresses(c.Request.Context(), patch, c.client()))
}

func (b *sidesBody) addresses() (p signin.AddressesPatch, err error) {
	for _, side := range []struct {
		name string
		sent json.RawMessage
		to   **signin.AddressSidePatch
	}{{"admin", b.Admin, &p.Admin}, {"client", b.Client, &p.Client}} {
		if side.sent == nil {
			continue
		}
		var block addressSideBody
		if err := object(side.name, side.sent, &block); err != nil {
			return p, err
		}
		*side.to = &signin.AddressSidePatch{}
		if err := optionalSwitch(side.name+".status", block.Status, &(*side.to).Status); err != nil {
			return p, err
		}
		var text *string
		if err := optionalText(side.name+".whitelist", block.Whitelist, &text); err != nil {
			return p, err
		}
		if text == nil {
			continue
		}
		list, err := signin.ParseWhitelist(*text)
		if err != nil {
			return p, inField(side.name+".whitelist", err)
		}
		(*side.to).Whitelist = &list
	}
	return p, nil
}
