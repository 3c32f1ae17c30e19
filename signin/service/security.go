package service

import (
	"context"
	"net/netip"

	"github.com/errata-log/errata/signin"
)

// Settings keeps the settings of sign-in, as the Store of package settings
// does. Each Read returns the setting in force, with every change that any node
// has confirmed. Each Update stores what change makes of it, and returns the
// new setting. change may be called more than once; its error is returned as it
// is. Errors: log_unavailable, and log_full for updates.
type Settings interface {
	ReadTwoFactor(ctx context.Context) (signin.TwoFactor, error)
	UpdateTwoFactor(ctx context.Context, change func(signin.TwoFactor) (signin.TwoFactor, error)) (signin.TwoFactor, error)
	ReadLocation(ctx context.Context) (signin.Location, error)
	UpdateLocation(ctx context.Context, change func(signin.Location) (signin.Location, error)) (signin.Location, error)
	ReadAddresses(ctx context.Context) (signin.Addresses, error)
	UpdateAddresses(ctx context.Context, change func(signin.Addresses) (signin.Addresses, error)) (signin.Addresses, error)
	ReadLocalization(ctx context.Context) (signin.Localization, error)
	UpdateLocalization(ctx context.Context, change func(signin.Localization) (signin.Localization, error)) (signin.Localization, error)
}

// Security reads and changes the settings, and checks them against the modules
// that are installed. Settings that depend on no module are read from Settings
// as they are. Errors: those of Settings, and of updates also those of the
// patch.
type Security struct {
	Settings
	// Modules is what is installed.
	Modules signin.Modules
}

// ReadTwoFactor is the setting of the second step, with the methods that are
// installed.
func (s Security) ReadTwoFactor(ctx context.Context) (signin.TwoFactor, error) {
	t, err := s.Settings.ReadTwoFactor(ctx)
	return t.Within(s.Modules), err
}

// UpdateTwoFactor changes what the patch names, and warns of what may surprise.
func (s Security) UpdateTwoFactor(ctx context.Context, p signin.TwoFactorPatch) (signin.TwoFactor, []signin.Warning, error) {
	t, err := s.Settings.UpdateTwoFactor(ctx, func(t signin.TwoFactor) (signin.TwoFactor, error) { return p.Apply(t, s.Modules), nil })
	return t.Within(s.Modules), t.Warnings(s.Modules), err
}

// ReadMethods are the methods of the second step that are installed.
func (s Security) ReadMethods(ctx context.Context) ([]signin.MethodState, error) {
	t, err := s.Settings.ReadTwoFactor(ctx)
	return s.Modules.States(t), err
}

// UpdateLocation changes what the patch names, and warns of what may surprise.
func (s Security) UpdateLocation(ctx context.Context, p signin.LocationPatch) (signin.Location, []signin.Warning, error) {
	// The choice of the module is a setting of its own. If somebody changes it
	// meanwhile, the result is as if they had changed it right after.
	chosen, err := s.ReadLocalization(ctx)
	if err != nil {
		return signin.Location{}, nil, err
	}
	l, err := s.Settings.UpdateLocation(ctx, func(l signin.Location) (signin.Location, error) { return p.Apply(l, s.Modules, chosen.IPModule) })
	return l, l.Warnings(s.Modules, chosen.IPModule), err
}

// UpdateAddresses changes what the patch names, and warns a caller at the
// address of what may surprise.
func (s Security) UpdateAddresses(ctx context.Context, p signin.AddressesPatch, caller netip.Addr) (signin.Addresses, []signin.Warning, error) {
	a, err := s.Settings.UpdateAddresses(ctx, func(a signin.Addresses) (signin.Addresses, error) { return p.Apply(a), nil })
	return a, p.Warnings(a, s.Modules, caller), err
}

// UpdateLocalization changes what the patch names, and warns when a check that
// is on needs another module.
func (s Security) UpdateLocalization(ctx context.Context, p signin.LocalizationPatch) (signin.Localization, []signin.Warning, error) {
	// Read before the change: a failure after it would look like a failure of
	// the change.
	checks, err := s.ReadLocation(ctx)
	if err != nil {
		return signin.Localization{}, nil, err
	}
	l, err := s.Settings.UpdateLocalization(ctx, func(l signin.Localization) (signin.Localization, error) { return p.Apply(l, s.Modules) })
	return l, checks.Warnings(s.Modules, l.IPModule), err
}
