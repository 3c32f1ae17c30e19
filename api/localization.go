package api

import (
	"encoding/json"

	"github.com/errata-log/errata/signin"
)

// localizationBody is the body of a change of the localization.
type localizationBody struct {
	IPModule json.RawMessage `json:"ip_module"`
}

// readLocalization shows how places are worked out.
func (s *service) readLocalization(c *call) (answer, error) {
	return told(s.Security.ReadLocalization(c.Request.Context()))
}

// updateLocalization chooses the location module. It warns when a check that
// is on needs another one.
func (s *service) updateLocalization(c *call) (answer, error) {
	var body localizationBody
	if err := c.bind(&body); err != nil {
		return answer{}, err
	}
	var patch signin.LocalizationPatch
	if err := optionalText("ip_module", body.IPModule, &patch.IPModule); err != nil {
		return answer{}, err
	}
	return toldWith(s.Security.UpdateLocalization(c.Request.Context(), patch))
}
