package service

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/challenge"
	"github.com/errata-log/errata/signin/familiar"
	"github.com/errata-log/errata/signin/geo"
	"github.com/errata-log/errata/signin/smtp"
)

// name is the service that mails and authenticator apps name.
const name = "Errata"

// Config is what a [Service] needs. All but Mail, Places, Skipped and
// Registerer is required.
type Config struct {
	// Log gets decisions and outcomes.
	Log eventlog.Log
	// Settings has the settings of sign-in. InForce is this node's copy of
	// them; it must not block.
	Settings Settings
	InForce  func() signin.Settings
	// Mail sends codes; nil: no mail module is configured.
	Mail *smtp.Sender
	// Places tells where addresses are, until Stop closes it; nil: there is no
	// location database.
	Places *geo.Database
	// SecretDir is the folder of the server secret, with which Challenges keeps
	// codes and Enrolments authenticator apps.
	SecretDir              string
	Challenges, Enrolments bucket.Store
	// Familiar stores what is known of accounts, for Days after the last sign-in.
	Familiar bucket.Store
	Days     int
	// Skipped is called for outcomes on the log that cannot be read.
	Skipped func(sequence uint64, why error)
	Now     func() time.Time
	Logger  *slog.Logger
	// Registerer gets the metric of outcomes; nil: nobody does.
	Registerer prometheus.Registerer
}

// Service answers what is asked about sign-ins. All methods may be called at
// once from many goroutines.
type Service struct {
	Security
	cfg      Config
	checker  *challenge.Checker
	memory   *familiar.Memory
	follower *familiar.Follower
	outcomes *prometheus.CounterVec
}

// Open begins to follow the outcomes of sign-ins, until [Service.Stop]. ctx
// bounds the opening only.
func Open(ctx context.Context, cfg Config) (*Service, error) {
	var locations []signin.LocationModule
	if cfg.Places != nil {
		locations = append(locations, cfg.Places.Module())
	}
	s := &Service{cfg: cfg, Security: Security{cfg.Settings, signin.BuiltIn(cfg.Mail != nil, locations...)}, outcomes: newOutcomes()}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(s.outcomes); err != nil {
			return nil, fmt.Errorf("register the metric of sign-ins: %w", err)
		}
	}
	secret, err := challenge.LoadSecret(cfg.SecretDir)
	if err != nil {
		return nil, err
	}
	if s.checker, err = challenge.Open(ctx, challenge.Config{
		Challenges: cfg.Challenges, Enrolments: cfg.Enrolments, Secret: secret, Issuer: name, Now: cfg.Now,
	}); err != nil {
		return nil, err
	}
	if s.memory, err = familiar.New(familiar.Config{Store: cfg.Familiar, Days: cfg.Days, Now: cfg.Now, Logger: cfg.Logger}); err != nil {
		return nil, err
	}
	if s.follower, err = familiar.NewFollower(s.memory, familiar.OnLog(cfg.Log), cfg.Logger, cfg.Skipped); err != nil {
		return nil, err
	}
	s.follower.Start()
	return s, nil
}

// Stop ends following and closes Places. It must be called before the log is
// closed.
func (s *Service) Stop(ctx context.Context) error {
	err := s.follower.Stop(ctx)
	if s.cfg.Places != nil {
		s.cfg.Places.Close()
	}
	return err
}
