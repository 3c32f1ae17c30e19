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
	setting, err := s.Security.ReadLocalization(c.Request.Context())
	if err != nil {
		return answer{}, err
	}
	return answer{data: setting}, nil
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
	ctx, modules := c.Request.Context(), s.Security.Modules()
	// Read before the change: afterwards a failure would look like one of it.
	location, err := s.Security.ReadLocation(ctx)
	if err != nil {
		return answer{}, err
	}
	setting, err := s.Security.UpdateLocalization(ctx, func(l signin.Localization) (signin.Localization, error) {
		return patch.Apply(l, modules)
	})
	if err != nil {
		return answer{}, err
	}
	return withWarnings(setting, location.Warnings(modules, setting.IPModule)), nil
}
