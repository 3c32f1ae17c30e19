package challenge

import (
	"crypto/hmac"
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"
)

const (
	// digits is the length of a code: a person can remember it from one window
	// to the next.
	digits = 6
	// codeCount is how many codes there are.
	codeCount = 1_000_000
	// CodeLife is how long a code is good: long enough for slow mail, too short
	// for a mail that somebody finds tomorrow.
	CodeLife = 10 * time.Minute
	// MaxTries is how often one challenge may be answered: a guess is right with
	// a chance of 1 in 200,000.
	MaxTries = 5
	// saltBytes keeps equal codes from having equal hashes.
	saltBytes = 16
)

// Outcome is the result of an answer.
type Outcome string

// The outcomes. Only Passed lets anybody in.
const (
	Passed Outcome = "passed"
	// Wrong: not the code; the try counted.
	Wrong Outcome = "wrong"
	// Malformed: not six digits, so not a try.
	Malformed Outcome = "malformed"
	// Expired: the code is too old.
	Expired Outcome = "expired"
	// Exhausted: there were MaxTries tries before, so that even the right code
	// is refused.
	Exhausted Outcome = "exhausted"
	// Used: the code was right and has been used before.
	Used Outcome = "used"
	// Unknown: no such challenge for this account and purpose.
	Unknown Outcome = "unknown"
	// NotEnrolled: the account has no authenticator app that could be asked.
	NotEnrolled Outcome = "not_enrolled"
)

// Challenge is the state of one code as it is stored.
type Challenge struct {
	// Owner stands for the account and the purpose.
	Owner string `json:"owner"`
	Salt  []byte `json:"salt"`
	// Hash is the keyed hash of the code, the salt and the owner.
	Hash    []byte    `json:"hash"`
	Expires time.Time `json:"expires"`
	Tries   int       `json:"tries"`
	Used    bool      `json:"used,omitempty"`
}

// Left is how many tries there still are.
func (c Challenge) Left() int {
	if c.Used {
		return 0
	}
	return max(0, MaxTries-c.Tries)
}

// NewChallenge draws a code for an account and a purpose, such as "sign-in".
// The code exists only in the returned text.
func (s *Secret) NewChallenge(random io.Reader, account, purpose string, now time.Time) (Challenge, string, error) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(random, salt); err != nil {
		return Challenge{}, "", fmt.Errorf("draw a salt: %w", err)
	}
	number, err := rand.Int(random, big.NewInt(codeCount)) // every code is equally likely
	if err != nil {
		return Challenge{}, "", fmt.Errorf("draw a code: %w", err)
	}
	code := fmt.Sprintf("%0*d", digits, number)
	c := Challenge{Owner: s.nameOf(account, purpose), Salt: salt, Expires: now.Add(CodeLife).UTC()}
	c.Hash = s.hash(c, code)
	return c, code, nil
}

// Verify checks an answer and returns the new state of the challenge. It must
// be stored in place of exactly the old state before anybody learns the
// outcome.
func (s *Secret) Verify(c Challenge, account, purpose, answer string, now time.Time) (Challenge, Outcome) {
	answer, wellFormed := normalize(answer)
	switch {
	case !hmac.Equal([]byte(c.Owner), []byte(s.nameOf(account, purpose))):
		return c, Unknown
	case c.Used:
		return c, Used
	case !now.Before(c.Expires):
		return c, Expired
	case c.Tries >= MaxTries:
		return c, Exhausted
	case !wellFormed:
		return c, Malformed
	}
	c.Tries++
	if !hmac.Equal(c.Hash, s.hash(c, answer)) {
		return c, Wrong
	}
	c.Used = true
	return c, Passed
}

func (s *Secret) hash(c Challenge, code string) []byte {
	return mac(s.codes, c.Salt, []byte(c.Owner), []byte(code))
}

// normalize lets people write a code as mails and apps show it, in groups.
func normalize(answer string) (code string, ok bool) {
	if len(answer) > 4*digits {
		return "", false
	}
	code = strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(answer)
	if len(code) != digits {
		return "", false
	}
	for _, c := range []byte(code) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return code, true
}
