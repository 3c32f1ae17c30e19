package app

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/signin/geo"
)

// Locator tells where an address is; a geo.Database is one. It must not block.
type Locator interface {
	Lookup(addr netip.Addr) (place geo.Place, known bool)
}

// startSignIns begins to follow the outcomes of sign-ins. It stops before the
// log does.
func (a *App) startSignIns(ctx context.Context) error {
	bucket, err := a.engines.JetStream().KeyValue(ctx, migrations.FamiliarBucket(a.options.Namespace))
	if err != nil {
		return fmt.Errorf("open the bucket of familiar places: %w", err)
	}
	memory, err := familiar.New(familiar.Config{
		Store: familiar.KV(bucket), Days: a.options.SignInMemoryDays, Now: a.options.Now, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	follower, err := familiar.NewFollower(memory, outcomes{a.stream()}, a.logger, a.strays.In("log"))
	if err != nil {
		return err
	}
	if a.options.Locator == nil && a.places != nil {
		a.options.Locator = a.places
	}
	a.signIns = &signIns{
		log: a.stream(), memory: memory, now: a.options.Now,
		settings: func() signin.Settings { return a.settings.Snapshot().Security },
		modules:  a.modules, locator: a.options.Locator,
	}
	follower.Start()
	a.cleanups.add("sign-ins", follower.Stop)
	return nil
}

// signIns decides about sign-ins for the API.
type signIns struct {
	log      eventlog.Log
	memory   *familiar.Memory
	now      func() time.Time
	settings func() signin.Settings
	modules  func() signin.Modules
	locator  Locator // nil: there is none
}

var _ api.SignIn = (*signIns)(nil)

// evaluated is a decision as it stands on the log.
type evaluated struct {
	Account  string         `json:"account"` // a familiar.Key, never the name
	Side     signin.Side    `json:"side"`
	At       int64          `json:"at"` // milliseconds since 1970
	Address  netip.Addr     `json:"ip"`
	Place    familiar.Place `json:"place"`
	Checks   []asked        `json:"checks"`
	Remind   bool           `json:"remind"`
	Warnings []string       `json:"warnings,omitempty"` // their codes
}

type asked struct {
	Kind    signin.Kind `json:"kind"`
	Methods []string    `json:"methods"`
	Reason  string      `json:"reason"`
}

// Evaluate decides and puts the decision on the log.
func (s *signIns) Evaluate(ctx context.Context, r api.SignInRequest) (api.SignInDecision, error) {
	settings, modules, account := s.settings(), s.modules(), familiar.Key(r.Side, r.Account)
	known, err := s.memory.Known(ctx, account)
	if err != nil {
		return api.SignInDecision{}, err
	}
	place := s.place(r.Address, settings, modules)
	d := signin.Decide(signin.Request{
		Side: r.Side, SetUpMethods: r.Methods,
		Address: r.Address, KnownAddresses: known.Addresses,
		Place: place, KnownPlaces: known.Places,
	}, settings, modules)
	fact := evaluated{
		Account: account, Side: r.Side, At: s.now().UnixMilli(), Address: r.Address,
		Place: familiar.Place(place), Checks: []asked{}, Remind: d.Remind,
	}
	for _, check := range d.Checks {
		fact.Checks = append(fact.Checks, asked(check))
	}
	for _, warning := range d.Warnings {
		fact.Warnings = append(fact.Warnings, warning.Code)
	}
	if _, err := eventlog.AppendSignIn(ctx, s.log, eventlog.SignInEvaluate, fact); err != nil {
		return api.SignInDecision{}, err
	}
	return api.SignInDecision{Decision: d, Country: place.Country}, nil
}

// Record puts the outcome on the log and applies it here at once, so that who
// got an answer is known to the next Evaluate.
func (s *signIns) Record(ctx context.Context, o api.SignInOutcome) error {
	fact := familiar.Outcome{
		Account: familiar.Key(o.Side, o.Account), Side: o.Side, At: s.now().UnixMilli(), Address: o.Address,
		Place:   familiar.Place(s.place(o.Address, s.settings(), s.modules())),
		Success: o.Success, Methods: o.Methods,
	}
	sequence, err := eventlog.AppendSignIn(ctx, s.log, eventlog.SignInOutcome, fact)
	if err != nil {
		return err
	}
	if err := s.memory.Apply(ctx, sequence, fact); err != nil {
		return errata.Errorf(errata.KindStoreUnavailable, "The outcome is on the log and will take effect, but is not known yet.").Because(err)
	}
	return nil
}

// place is where the address is, as far as the chosen module can tell.
func (s *signIns) place(addr netip.Addr, settings signin.Settings, modules signin.Modules) signin.Place {
	if _, installed := modules.Location(settings.Localization.IPModule); !installed || s.locator == nil {
		return signin.Place{}
	}
	found, known := s.locator.Lookup(addr)
	if !known {
		return signin.Place{}
	}
	return signin.Place(found)
}

// outcomes are those on the log, as the follower reads them.
type outcomes struct{ log eventlog.Log }

var _ familiar.Log = outcomes{}

// Span tells logs apart by when they were made.
func (o outcomes) Span(ctx context.Context) (log string, first, last uint64, err error) {
	state, err := eventlog.Inspect(ctx, o.log)
	return strconv.FormatInt(state.Created.UnixNano(), 10), state.First, state.Last, err
}

func (o outcomes) Read(ctx context.Context, from uint64) (familiar.Reader, error) {
	reader, err := eventlog.NewOutcomesReader(ctx, o.log, from)
	if err != nil {
		return nil, err
	}
	return outcomeReader{reader}, nil
}

type outcomeReader struct{ *eventlog.Reader }

func (r outcomeReader) Next(ctx context.Context) (sequence uint64, data []byte, err error) {
	fact, err := r.Reader.Next(ctx)
	return fact.Sequence, fact.Data, err
}
