package api

import (
	"bytes"
	"encoding/json"

	"github.com/errata-log/errata/signin"
)

// twoFactorBody is the body of A2. A field that was not sent is nil, one that
// was sent as null is not.
type twoFactorBody struct {
	Authentications json.RawMessage `json:"authentications"`
	Admin           json.RawMessage `json:"admin"`
	Client          json.RawMessage `json:"client"`
	ShowPopup       json.RawMessage `json:"show_popup"`
}

// readTwoFactor is A1.
func (s *service) readTwoFactor(c *call) (answer, error) {
	return told(s.Security.ReadTwoFactor(c.Request.Context()))
}

// updateTwoFactor is A2. Everything is checked before anything is changed.
func (s *service) updateTwoFactor(c *call) (answer, error) {
	var body twoFactorBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	patch, err := body.patch()
	if err != nil {
		return answer{}, err
	}
	return told(s.Security.UpdateTwoFactor(c.Request.Context(), patch))
}

// listTwoFactorMethods is A3: the installed methods.
func (s *service) listTwoFactorMethods(c *call) (answer, error) {
	return told(s.Security.ReadMethods(c.Request.Context()))
}

func (b *twoFactorBody) patch() (p signin.TwoFactorPatch, err error) {
	if err := optionalSwitch("admin", b.Admin, &p.Admin); err != nil {
		return p, err
	}
	if err := optionalSwitch("client", b.Client, &p.Client); err != nil {
		return p, err
	}
	if err := optionalSwitch("show_popup", b.ShowPopup, &p.ShowPopup); err != nil {
		return p, err
	}
	if b.Authentications != nil {
		keys, err := textsIn("authentications", b.Authentications)
		if err != nil {
			return p, err
		}
		p.Authentications = &keys
	}
	return p, nil
}

// textsIn reads an array of strings.
func textsIn(field string, sent json.RawMessage) ([]string, error) {
	var elements []json.RawMessage
	if sent[0] != '[' || json.Unmarshal(sent, &elements) != nil {
		return nil, wrongType(field, sent, "an array of strings")
	}
	texts := make([]string, 0, len(elements))
	for _, element := range elements {
		element = bytes.TrimSpace(element)
		var text string
		if element[0] != '"' || json.Unmarshal(element, &text) != nil {
			return nil, wrongType(field+"[]", element, "a string")
		}
		texts = append(texts, text)
	}
	return texts, nil
}
