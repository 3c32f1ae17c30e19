package familiar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/bucket"
)

const (
	// DefaultDays is how long a place or an address is familiar after the last
	// sign-in from there: after half a year the account is asked again.
	DefaultDays = 180
	// MaxDays is the longest; the bucket forgets an account a day later.
	MaxDays = 365
	// maxConflicts is how often a change is made anew. Each conflict means that
	// another change was stored, so only a flood on one account gets there.
	maxConflicts = 200
	// retryAfter is what callers are told to wait when the store is away.
	retryAfter = 5 * time.Second
)

// Config is what a Memory needs. Store, Days and Now are required.
type Config struct {
	Store bucket.Store
	// Days is how long an entry is kept after it was last seen, 1 to MaxDays.
	Days int
	Now  func() time.Time
	// Logger gets what cannot be stored or read; nil for none.
	Logger *slog.Logger
}

// CheckDays says why an entry cannot be kept for so many days.
func CheckDays(days int) error {
	if days < 1 || days > MaxDays {
		return fmt.Errorf("%d is not from 1 to %d", days, MaxDays)
	}
	return nil
}

// Memory is what is known of all accounts.
type Memory struct{ cfg Config }

// New checks the Config.
func New(cfg Config) (*Memory, error) {
	if cfg.Store == nil || cfg.Now == nil {
		return nil, errors.New("familiar: Store and Now are required")
	}
	if err := CheckDays(cfg.Days); err != nil {
		return nil, fmt.Errorf("familiar: Days: %w", err)
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Memory{cfg}, nil
}

// Known is what is familiar of the account with the Key. Errors:
// log_unavailable.
func (m *Memory) Known(ctx context.Context, account string) (Known, error) {
	state, _, err := m.read(ctx, account)
	if err != nil {
		return Known{}, err
	}
	return state.At(m.cfg.Now(), m.cfg.Days), nil
}

// Apply adds the outcome at the sequence of the log; to apply it again changes
// nothing. An outcome without room in the bucket is left out and logged: its
// account will be asked. Errors: log_unavailable, rate_limited.
func (m *Memory) Apply(ctx context.Context, sequence uint64, o Outcome) error {
	for range maxConflicts {
		state, revision, err := m.read(ctx, o.Account)
		if err != nil {
			return err
		}
		next := state.Apply(sequence, o, m.cfg.Days)
		if next.equal(state) {
			return nil
		}
		data, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("encode what is known of an account: %w", err)
		}
		switch _, err = m.cfg.Store.Put(ctx, o.Account, data, revision); {
		case err == nil:
			return nil
		case errors.Is(err, bucket.ErrFull):
			m.cfg.Logger.Warn("there is no room to remember a sign-in, so its account will be asked again; give the bucket of familiar places more room or lower signin-memory-days", "error", err)
			return nil
		case !errors.Is(err, bucket.ErrConflict):
			return unavailable("store", err)
		}
	}
	return &errata.Error{
		Kind: errata.KindRateLimited, Message: "Too many sign-ins of the same account at once; try again shortly.", RetryAfter: time.Second,
	}
}

// read is the state of an account. A state that cannot be decoded counts as
// none: the account is asked, and the next sign-in replaces it.
func (m *Memory) read(ctx context.Context, account string) (s State, revision uint64, err error) {
	data, revision, err := m.cfg.Store.Get(ctx, account)
	if errors.Is(err, bucket.ErrNotFound) {
		return State{}, 0, nil
	}
	if err != nil {
		return State{}, 0, unavailable("read", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		m.cfg.Logger.Error("the familiar places and addresses of an account cannot be read; the account is asked again", "account", account, "error", err)
		return State{}, revision, nil
	}
	return s, revision, nil
}

func unavailable(what string, err error) error {
	return &errata.Error{
		Kind:       errata.KindLogUnavailable,
		Message:    "What is known of earlier sign-ins cannot be reached right now; try again shortly.",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("%s what is known of an account: %w", what, err),
	}
}

// cursorKey is the key of the Position. No account has it: their keys are hex.
const cursorKey = "cursor"

// Position is how far the outcomes of a log have been applied.
type Position struct {
	// Log tells one log from another, such as a restored one.
	Log string `json:"log"`
	// Sequence is the last outcome that was applied.
	Sequence uint64 `json:"seq"`
}

// position is the stored one, the zero Position when there is none.
func (m *Memory) position(ctx context.Context) (p Position, revision uint64, err error) {
	data, revision, err := m.cfg.Store.Get(ctx, cursorKey)
	if errors.Is(err, bucket.ErrNotFound) {
		return Position{}, 0, nil
	}
	if err != nil {
		return Position{}, 0, unavailable("read", err)
	}
	if json.Unmarshal(data, &p) != nil {
		return Position{}, revision, nil //nolint:nilerr // everything is applied again
	}
	return p, revision, nil
}

// savePosition stores how far a node has come, unless another node has come
// further: all nodes share the bucket.
func (m *Memory) savePosition(ctx context.Context, p Position) error {
	for range maxConflicts {
		stored, revision, err := m.position(ctx)
		if err != nil {
			return err
		}
		if stored.Log == p.Log && stored.Sequence >= p.Sequence {
			return nil
		}
		if err = m.putPosition(ctx, p, revision); !errors.Is(err, bucket.ErrConflict) {
			return err
		}
	}
	return bucket.ErrConflict
}

func (m *Memory) putPosition(ctx context.Context, p Position, revision uint64) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the position: %w", err)
	}
	if _, err := m.cfg.Store.Put(ctx, cursorKey, data, revision); err != nil {
		return fmt.Errorf("store the position in the outcomes: %w", err)
	}
	return nil
}
