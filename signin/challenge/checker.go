package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"time"
	"unicode/utf8"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/bucket"
)

const (
	codeKey   = "code."
	appKey    = "app."
	rateKey   = "rate."
	secretKey = "secret"
	// idBytes makes an id that nobody guesses: only who began the sign-in has it.
	idBytes = 16
	// maxName bounds an account, a purpose and a label, in bytes: as many as the
	// 190 characters that the API takes may have.
	maxName = 190 * utf8.UTFMax
)

// idForm is the form of the ids of Issue; no other text becomes part of a key.
var idForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Config is what a [Checker] needs.
type Config struct {
	// Challenges keeps what is soon forgotten, Enrolments what is not. Required.
	Challenges, Enrolments bucket.Store
	// Secret is the server secret. Required, and the same on every node.
	Secret *Secret
	// Issuer is the name of the service in an authenticator app. Empty for "Errata".
	Issuer string
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Random is the source of codes and secrets, nil for the system's. Several
	// goroutines read it at once.
	Random io.Reader
}

// Checker issues challenges and verifies answers. All methods may be called at
// once from many goroutines and on many nodes. Their errors have the kinds
// rate_limited, with the time to wait, and log_unavailable. An answer with an
// error has not passed.
type Checker struct {
	cfg Config
}

// Open checks that the stored enrolments were made with this server secret:
// with another one no app would work, and nothing would say why.
func Open(ctx context.Context, cfg Config) (*Checker, error) {
	if cfg.Challenges == nil || cfg.Enrolments == nil || cfg.Secret == nil {
		return nil, errors.New("challenge: Challenges, Enrolments and Secret are required")
	}
	cfg.Issuer = cmp.Or(cfg.Issuer, "Errata")
	cfg.Random = cmp.Or(cfg.Random, rand.Reader)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	mine := cfg.Secret.fingerprint
	stored := mine
	err := change(ctx, cfg.Enrolments, secretKey, func(have string, found bool) (string, bool, error) {
		if found {
			stored = have
		}
		return mine, !found, nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare the server secret: %w", err)
	}
	if stored != mine {
		return nil, fmt.Errorf("the server secret (%s) is not the one that authenticator apps were set up with: put the earlier file, or that of another node, in its place", SecretFile)
	}
	return &Checker{cfg: cfg}, nil
}

// Issued is a challenge that was made.
type Issued struct {
	// ID names the challenge and goes to the person who signs in; 32 hex digits.
	ID string
	// Code goes to the account's own mailbox and nowhere else.
	Code string `json:"-"`
	// Expires is when the code is no longer good.
	Expires time.Time
}

// String leaves the code out, for logs.
func (i Issued) String() string { return "challenge " + i.ID }

// Issue makes a code for an account and a purpose; both are words of the caller,
// 1 to 760 bytes. addr is where the sign-in comes from, the zero Addr when that
// is not known. Codes issued before stay good.
func (c *Checker) Issue(ctx context.Context, account, purpose string, addr netip.Addr) (Issued, error) {
	if err := named(account, purpose); err != nil {
		return Issued{}, err
	}
	if err := c.take(ctx, "issue-address", IssueAddress, origin(addr)); err != nil {
		return Issued{}, err
	}
	if err := c.take(ctx, "issue-account", IssueAccount, account); err != nil {
		return Issued{}, err
	}
	challenge, code, err := c.cfg.Secret.NewChallenge(c.cfg.Random, account, purpose, c.cfg.Now())
	if err != nil {
		return Issued{}, err
	}
	id := make([]byte, idBytes)
	if _, err := io.ReadFull(c.cfg.Random, id); err != nil {
		return Issued{}, fmt.Errorf("draw an id: %w", err)
	}
	issued := Issued{ID: hex.EncodeToString(id), Code: code, Expires: challenge.Expires}
	if err := put(ctx, c.cfg.Challenges, codeKey+issued.ID, challenge, 0); err != nil {
		return Issued{}, err
	}
	return issued, nil
}

// Answer is the answer to a challenge, or a code of an app.
type Answer struct {
	// ID is that of the challenge; not used for an app.
	ID string
	// Account and Purpose must be those that the challenge was issued for; an app
	// has no purpose.
	Account, Purpose string
	// Code is what was typed; spaces and hyphens do not matter.
	Code string
	// Address is where the answer comes from, the zero Addr when that is not
	// known.
	Address netip.Addr
}

// Verdict is what came of an answer.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Left is how many more tries the challenge has; 0 for an app, whose tries
	// are bounded by rate only.
	Left int `json:"tries_left"`
	// Verified says that the outcome is Passed.
	Verified bool `json:"verified"`
}

// verdictOf is the verdict on an answer. state is the challenge after it. Only
// an answer that may be tried again learns how many tries are left.
func verdictOf(outcome Outcome, state Challenge) Verdict {
	v := Verdict{Outcome: outcome, Verified: outcome == Passed}
	if outcome == Wrong || outcome == Malformed {
		v.Left = state.Left()
	}
	return v
}

// Verify checks the answer to a challenge.
func (c *Checker) Verify(ctx context.Context, a Answer) (Verdict, error) {
	if err := c.take(ctx, "try-address", TryAddress, origin(a.Address)); err != nil {
		return Verdict{}, err
	}
	if !idForm.MatchString(a.ID) || named(a.Account, a.Purpose) != nil {
		return Verdict{Outcome: Unknown}, nil //nolint:nilerr // nothing was issued under such names
	}
	key := codeKey + a.ID
	before, _, err := get[Challenge](ctx, c.cfg.Challenges, key)
	if errors.Is(err, bucket.ErrNotFound) {
		return Verdict{Outcome: Unknown}, nil
	}
	if err != nil {
		return Verdict{}, err
	}
	// An answer that is no try is answered before the tries of the account are
	// counted, so that nobody can lock an account out by naming it.
	if next, outcome := c.cfg.Secret.Verify(before, a.Account, a.Purpose, a.Code, c.cfg.Now()); next.Tries == before.Tries {
		return verdictOf(outcome, next), nil
	}
	if err := c.take(ctx, "try-account", TryAccount, a.Account); err != nil {
		return Verdict{}, err
	}
	verdict, err := c.try(ctx, key, a)
	if err == nil {
		c.giveBack(ctx, verdict.Outcome, a)
	}
	return verdict, err
}

// try checks one answer, after the rates have let it through.
func (c *Checker) try(ctx context.Context, key string, a Answer) (verdict Verdict, err error) {
	err = change(ctx, c.cfg.Challenges, key, func(state Challenge, found bool) (Challenge, bool, error) {
		if !found {
			verdict = Verdict{Outcome: Unknown}
			return state, false, nil
		}
		next, outcome := c.cfg.Secret.Verify(state, a.Account, a.Purpose, a.Code, c.cfg.Now())
		verdict = verdictOf(outcome, next)
		return next, next.Tries != state.Tries, nil
	})
	if err != nil {
		return Verdict{}, err
	}
	return verdict, nil
}

// take takes a token of a rate for who; "" is not counted.
func (c *Checker) take(ctx context.Context, name string, rate Rate, who string) error {
	if who == "" {
		return nil
	}
	var wait time.Duration
	err := change(ctx, c.cfg.Challenges, c.rateKey(name, who), func(level Level, _ bool) (Level, bool, error) {
		level, wait = rate.Take(level, c.cfg.Now())
		return level, wait == 0, nil
	})
	if err != nil || wait == 0 {
		return err
	}
	return &errata.Error{
		Kind: errata.KindRateLimited, Message: "Too many sign-in codes were asked for or tried; wait and try again.", RetryAfter: wait,
	}
}

// giveBack returns the tokens of a right answer. When that fails, the person
// has one try less for a while.
func (c *Checker) giveBack(ctx context.Context, outcome Outcome, a Answer) {
	if outcome != Passed {
		return
	}
	for _, spent := range []struct {
		name, who string
		rate      Rate
	}{{"try-account", a.Account, TryAccount}, {"try-address", origin(a.Address), TryAddress}} {
		if spent.who == "" {
			continue
		}
		_ = change(ctx, c.cfg.Challenges, c.rateKey(spent.name, spent.who), func(level Level, found bool) (Level, bool, error) {
			return spent.rate.Give(level, c.cfg.Now()), found, nil
		})
	}
}

func (c *Checker) rateKey(name, who string) string {
	return rateKey + name + "." + c.cfg.Secret.nameOf(name, who)
}

// named says whether words can name an account and a purpose.
func named(words ...string) error {
	for _, word := range words {
		if word == "" || len(word) > maxName {
			return fmt.Errorf("challenge: an account and a purpose have 1 to %d bytes", maxName)
		}
	}
	return nil
}
