package api

import (
	"context"
	"net/netip"

	"github.com/errata-log/errata/signin"
)

// SecuritySettings reads and changes the settings of sign-in. Each Read returns
// the setting in force, with every change that any node has confirmed. Each
// Update applies the patch to it, and returns the new setting and warnings of
// what may surprise. Errors: log_unavailable; for updates also log_full and
// those of the patch.
type SecuritySettings interface {
	ReadTwoFactor(ctx context.Context) (signin.TwoFactor, error)
	UpdateTwoFactor(ctx context.Context, p signin.TwoFactorPatch) (signin.TwoFactor, []signin.Warning, error)
	// ReadMethods are the methods of the second step that are installed.
	ReadMethods(ctx context.Context) ([]signin.MethodState, error)
	ReadLocation(ctx context.Context) (signin.Location, error)
	UpdateLocation(ctx context.Context, p signin.LocationPatch) (signin.Location, []signin.Warning, error)
	ReadAddresses(ctx context.Context) (signin.Addresses, error)
	UpdateAddresses(ctx context.Context, p signin.AddressesPatch, caller netip.Addr) (signin.Addresses, []signin.Warning, error)
	ReadLocalization(ctx context.Context) (signin.Localization, error)
	UpdateLocalization(ctx context.Context, p signin.LocalizationPatch) (signin.Localization, []signin.Warning, error)
}

// setting shows a setting.
func setting[T any](read func(SecuritySettings, context.Context) (T, error)) handler {
	return func(c *call) (answer, error) { return reply(read(c.service.Security, c.Request.Context())) }
}

// changedSetting changes a setting by the patch in the body. The patch is
// checked as a whole before anything changes.
func changedSetting[P, T any](update func(SecuritySettings, context.Context, P) (T, []signin.Warning, error)) handler {
	return withBody(func(c *call, patch P) (answer, error) {
		return replyWarned(update(c.service.Security, c.Request.Context(), patch))
	})
}

// updateAddresses changes the check of addresses. A warning depends on the
// caller's own address.
func (s *service) updateAddresses(c *call, patch signin.AddressesPatch) (answer, error) {
	return replyWarned(s.Security.UpdateAddresses(c.Request.Context(), patch, c.client()))
}
