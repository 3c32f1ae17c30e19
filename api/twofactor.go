package api

import (
	"bytes"
	"encoding/json"
	"slices"

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

// methodJSON is a second-step method in answers.
type methodJSON struct {
	Key       string `json:"key"`
	Name      string `json:"name"`
	Enabled   bool   `json:"enabled"`
	Installed bool   `json:"installed"`
}

// readTwoFactor is A1.
func (s *service) readTwoFactor(c *call) (answer, error) {
	setting, err := s.Security.ReadTwoFactor(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	return answer{data: setting.Within(s.Security.Modules())}, nil
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
	modules := s.Security.Modules()
	setting, err := s.Security.UpdateTwoFactor(c.Request.Context(), func(t signin.TwoFactor) (signin.TwoFactor, error) {
		return patch.Apply(t, modules), nil
	})
	if err != nil {
		return answer{}, err
	}
	return answer{data: setting.Within(modules)}, nil
}

// listTwoFactorMethods is A3: the installed methods.
func (s *service) listTwoFactorMethods(c *call) (answer, error) {
	setting, err := s.Security.ReadTwoFactor(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	modules := s.Security.Modules()
	methods := make([]methodJSON, 0, len(modules.Methods))
	for _, m := range modules.Methods {
		if _, installed := modules.Method(m.Key); !installed {
			continue // its key could not be used
		}
		methods = append(methods, methodJSON{
			Key: m.Key, Name: m.Name, Enabled: slices.Contains(setting.Authentications, m.Key), Installed: true,
		})
	}
	return answer{data: methods}, nil
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
