package challenge_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/signin/challenge"
)

// shown is the code that an app with the secret shows.
func shown(t interface{ Fatal(...any) }, secret string, at time.Time) string {
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func newEnrolment(t interface{ Fatal(...any) }, secret *challenge.Secret) (challenge.Enrolment, string, string) {
	state, key, link, err := secret.NewEnrolment(rand.Reader, "ann", "Errata & Co", "ann@example.org", start)
	if err != nil {
		t.Fatal(err)
	}
	return state, key, link
}

func TestEnrolmentLink(t *testing.T) {
	state, key, link := newEnrolment(t, secretOf(t, 1))
	parsed, err := url.Parse(link)
	if err != nil || parsed.Scheme != "otpauth" || parsed.Host != "totp" || parsed.Path != "/Errata & Co:ann@example.org" {
		t.Errorf("link %s, error %v", link, err)
	}
	query := parsed.Query()
	if query.Get("secret") != key || query.Get("issuer") != "Errata & Co" || len(key) != 32 {
		t.Errorf("link %s, key of %d letters", link, len(key))
	}
	if strings.Contains(string(state.Sealed), key) || state.Confirmed {
		t.Errorf("state %+v", state)
	}
}

func TestVerifyApp(t *testing.T) {
	secret := secretOf(t, 1)
	fresh, key, _ := newEnrolment(t, secret)
	at := start.Truncate(30 * time.Second).Add(24 * time.Hour) // the begin of a step
	step := at.Unix() / 30
	confirmed := fresh
	confirmed.Confirmed, confirmed.LastStep = true, step-100
	used := confirmed
	used.LastStep = step
	for name, test := range map[string]struct {
		state  challenge.Enrolment
		answer string
		now    time.Time
		want   challenge.Outcome
	}{
		"now":                     {confirmed, shown(t, key, at), at, challenge.Passed},
		"a step ago":              {confirmed, shown(t, key, at.Add(-30*time.Second)), at, challenge.Passed},
		"a step ahead":            {confirmed, shown(t, key, at.Add(30*time.Second)), at, challenge.Passed},
		"two steps ago":           {confirmed, shown(t, key, at.Add(-31*time.Second)), at, challenge.Wrong},
		"two steps ahead":         {confirmed, shown(t, key, at.Add(60*time.Second)), at, challenge.Wrong},
		"again":                   {used, shown(t, key, at), at, challenge.Used},
		"again, a step later":     {used, shown(t, key, at), at.Add(30 * time.Second), challenge.Used},
		"an older one":            {used, shown(t, key, at.Add(-30*time.Second)), at, challenge.Used},
		"the next one":            {used, shown(t, key, at.Add(30*time.Second)), at, challenge.Passed},
		"wrong":                   {confirmed, wrong(shown(t, key, at)), at, challenge.Wrong},
		"no code":                 {confirmed, "hello", at, challenge.Malformed},
		"unconfirmed, in time":    {fresh, shown(t, key, start.Add(59*time.Minute)), start.Add(59 * time.Minute), challenge.Passed},
		"unconfirmed, too late":   {fresh, shown(t, key, start.Add(time.Hour)), start.Add(time.Hour), challenge.NotEnrolled},
		"nothing was ever stored": {challenge.Enrolment{}, "123456", at, challenge.NotEnrolled},
	} {
		t.Run(name, func(t *testing.T) {
			next, outcome, err := secret.VerifyApp(test.state, "ann", test.answer, test.now)
			if err != nil || outcome != test.want {
				t.Fatalf("outcome %s, error %v, want %s", outcome, err, test.want)
			}
			if outcome == challenge.Passed && (next.LastStep <= test.state.LastStep || !next.Confirmed) ||
				outcome != challenge.Passed && (next.LastStep != test.state.LastStep || next.Confirmed != test.state.Confirmed) {
				t.Errorf("state %+v after %s", next, outcome)
			}
		})
	}
}

// Every code passes at most once, whatever is tried at whatever time.
func TestAppCodesPassOnce(t *testing.T) {
	secret := secretOf(t, 1)
	state, key, _ := newEnrolment(t, secret)
	rapid.Check(t, func(t *rapid.T) {
		state, now, passed := state, start, map[string]time.Time{}
		for range rapid.IntRange(1, 15).Draw(t, "answers") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			answer := shown(t, key, now.Add(time.Duration(rapid.IntRange(-60, 60).Draw(t, "skew"))*time.Second))
			next, outcome, err := secret.VerifyApp(state, "ann", answer, now)
			if err != nil {
				t.Fatal(err)
			}
			if before, was := passed[answer]; was && outcome == challenge.Passed && now.Sub(before) < 2*time.Minute {
				t.Fatalf("%s passed twice within %s", answer, now.Sub(before))
			}
			if outcome == challenge.Passed {
				passed[answer] = now
			}
			state = next
		}
	})
}

func TestSealedSecret(t *testing.T) {
	secret := secretOf(t, 1)
	state, key, _ := newEnrolment(t, secret)
	code := shown(t, key, start)
	check := func(what string, s *challenge.Secret, e challenge.Enrolment, account string) {
		t.Helper()
		if _, outcome, err := s.VerifyApp(e, account, code, start); err == nil || outcome == challenge.Passed {
			t.Errorf("%s: outcome %s, error %v, want an error", what, outcome, err)
		} else if strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error holds the secret", what)
		}
	}
	check("another account", secret, state, "bob")
	check("another server secret", secretOf(t, 2), state, "ann")
	for n := range state.Sealed {
		damaged := state
		damaged.Sealed = state.Sealed[:n]
		check("cut", secret, damaged, "ann")
		damaged.Sealed = append([]byte(nil), state.Sealed...)
		damaged.Sealed[n] ^= 1
		check("changed", secret, damaged, "ann")
	}
}
