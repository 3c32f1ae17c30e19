package service

import (
	"context"
	"net/netip"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
)

// evaluated is a decision as it stands on the log.
type evaluated struct {
	Account  string         `json:"account"` // a familiar.Key, never the name
	Side     signin.Side    `json:"side"`
	At       int64          `json:"at"` // milliseconds since 1970
	Address  netip.Addr     `json:"ip"`
	Place    signin.Place   `json:"place"`
	Checks   []signin.Check `json:"checks"`
	Remind   bool           `json:"remind"`
	Warnings []string       `json:"warnings,omitempty"` // their codes
}

// Evaluate says what is asked at a sign-in whose password was right, and puts
// that on the log. Errors: log_unavailable, log_full.
func (s *Service) Evaluate(ctx context.Context, a signin.Attempt) (signin.Decision, error) {
	settings, account := s.cfg.InForce(), familiar.Key(a.Side, a.Account)
	known, err := s.memory.Known(ctx, account)
	if err != nil {
		return signin.Decision{}, err
	}
	place := s.place(a.Address, settings)
	d := signin.Decide(signin.Request{
		Side: a.Side, SetUpMethods: a.Methods,
		Address: a.Address, KnownAddresses: known.Addresses,
		Place: place, KnownPlaces: known.Places,
	}, settings, s.Modules)
	fact := evaluated{
		Account: account, Side: a.Side, At: s.cfg.Now().UnixMilli(), Address: a.Address,
		Place: place, Checks: d.Checks, Remind: d.Remind,
	}
	for _, warning := range d.Warnings {
		fact.Warnings = append(fact.Warnings, warning.Code)
	}
	if _, err := eventlog.AppendSignIn(ctx, s.cfg.Log, eventlog.SignInEvaluate, fact); err != nil {
		return signin.Decision{}, err
	}
	return d, nil
}

// Record puts the outcome of a sign-in on the log and applies it here at once,
// so that the next Evaluate knows it. Errors: log_unavailable, log_full;
// store_unavailable when it will take effect later.
func (s *Service) Record(ctx context.Context, a signin.Attempt, success bool) error {
	fact := familiar.Outcome{
		Account: familiar.Key(a.Side, a.Account), Side: a.Side, At: s.cfg.Now().UnixMilli(), Address: a.Address,
		Place: s.place(a.Address, s.cfg.InForce()), Success: success, Methods: a.Methods,
	}
	sequence, err := eventlog.AppendSignIn(ctx, s.cfg.Log, eventlog.SignInOutcome, fact)
	if err != nil {
		return err
	}
	s.outcomes.WithLabelValues(string(a.Side), outcome(success)).Inc()
	if err := s.memory.Apply(ctx, sequence, fact); err != nil {
		return errata.Errorf(errata.KindStoreUnavailable, "The outcome is on the log and will take effect, but is not known yet.").Because(err)
	}
	return nil
}

// place is where the address is, if a location module is chosen and knows it.
func (s *Service) place(addr netip.Addr, settings signin.Settings) (place signin.Place) {
	if _, installed := s.Modules.Location(settings.Localization.IPModule); installed {
		place, _ = s.cfg.Places.Lookup(addr)
	}
	return place
}
