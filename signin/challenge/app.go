package challenge

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

const (
	// step is how long an app shows a code. Every app can do 30 s, SHA-1 and
	// six digits; several ignore other values.
	step = 30 * time.Second
	// skew is how many steps before and after the present one are good as well:
	// clocks of telephones differ, and typing takes time.
	skew = 1
	// appSecretBytes is the length that RFC 4226 recommends.
	appSecretBytes = 20
	// ConfirmWithin is how long a secret that was shown waits for its first code.
	ConfirmWithin = time.Hour
)

// Enrolment is the state of an account's authenticator app as it is stored.
type Enrolment struct {
	// Sealed is the app's secret, AES-256-GCM: nonce and cipher text.
	Sealed []byte    `json:"sealed"`
	Made   time.Time `json:"made"`
	// Confirmed says that the app has shown a right code. Before that, its
	// codes pass nothing.
	Confirmed bool `json:"confirmed"`
	// LastStep is the step of the last good code, counted from 1970; it and all
	// steps before it are used.
	LastStep int64 `json:"last_step"`
}

// NewEnrolment draws a secret. link is what an app reads as a QR code, label the
// name that it shows.
func (s *Secret) NewEnrolment(random io.Reader, account, issuer, label string, now time.Time) (e Enrolment, secret, link string, err error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: label, SecretSize: appSecretBytes, Rand: random})
	if err != nil {
		return Enrolment{}, "", "", fmt.Errorf("draw an app's secret: %w", err)
	}
	gcm, err := s.gcm()
	if err != nil {
		return Enrolment{}, "", "", err
	}
	// The entry is bound to the account: it does not open in another one's place.
	sealed := gcm.Seal(nil, nil, []byte(key.Secret()), []byte(s.nameOf(account)))
	return Enrolment{Sealed: sealed, Made: now.UTC()}, key.Secret(), linkOf(key.Secret(), issuer, label), nil
}

// linkOf is the otpauth:// URL of a secret. The library's own does not escape
// an "&" in the issuer, which then ends the issuer. Apps split the path at the
// first colon, and some show a "+" that stands for a space.
func linkOf(secret, issuer, label string) string {
	query := url.Values{
		"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"},
		"digits": {strconv.Itoa(digits)}, "period": {strconv.Itoa(int(step / time.Second))},
	}
	return "otpauth://totp/" + url.PathEscape(strings.ReplaceAll(issuer, ":", " ")) + ":" + url.PathEscape(label) +
		"?" + strings.ReplaceAll(query.Encode(), "+", "%20")
}

// VerifyApp checks a code and returns the new state of the enrolment; the first
// good code confirms it. As with [Secret.Verify], the new state must be stored
// before the outcome is told. There is an error when the secret cannot be read.
func (s *Secret) VerifyApp(e Enrolment, account, answer string, now time.Time) (Enrolment, Outcome, error) {
	answer, wellFormed := normalize(answer)
	switch {
	case !e.Confirmed && !now.Before(e.Made.Add(ConfirmWithin)):
		return e, NotEnrolled, nil
	case !wellFormed:
		return e, Malformed, nil
	}
	secret, err := s.open(e, account)
	if err != nil {
		return e, "", err
	}
	matched, current := int64(-1), now.Unix()/int64(step/time.Second)
	// All steps are computed, so that the time of the answer tells nothing. Of
	// two steps with the same code the later one counts, or the code would be
	// good twice.
	for counter := max(0, current-skew); counter <= current+skew; counter++ {
		code, err := hotp.GenerateCodeCustom(secret, uint64(counter), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return e, "", errors.New("compute an app's code: the stored secret is damaged")
		}
		if hmac.Equal([]byte(code), []byte(answer)) {
			matched = counter
		}
	}
	switch {
	case matched < 0:
		return e, Wrong, nil
	case matched <= e.LastStep:
		return e, Used, nil
	}
	e.LastStep, e.Confirmed = matched, true
	return e, Passed, nil
}

// open decrypts an app's secret.
func (s *Secret) open(e Enrolment, account string) (string, error) {
	gcm, err := s.gcm()
	if err != nil {
		return "", err
	}
	plain, err := gcm.Open(nil, nil, e.Sealed, []byte(s.nameOf(account)))
	if err != nil {
		return "", fmt.Errorf("read an app's secret: %w: it was made with another server secret, or changed", err)
	}
	return string(plain), nil
}

func (s *Secret) gcm() (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.apps[:])
	if err != nil {
		return nil, fmt.Errorf("prepare the cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
