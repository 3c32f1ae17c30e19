package challenge_test

import (
	"crypto/rand"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/signin/challenge"
)

func newChallenge(t interface{ Fatal(...any) }, secret *challenge.Secret) (challenge.Challenge, string) {
	state, code, err := secret.NewChallenge(rand.Reader, "ann", "sign-in", start)
	if err != nil {
		t.Fatal(err)
	}
	return state, code
}

func TestVerify(t *testing.T) {
	secret := secretOf(t, 1)
	fresh, code := newChallenge(t, secret)
	with := func(change func(*challenge.Challenge)) challenge.Challenge {
		state := fresh
		change(&state)
		return state
	}
	for name, test := range map[string]struct {
		state                    challenge.Challenge
		account, purpose, answer string
		after                    time.Duration
		want                     challenge.Outcome
		counts                   bool
	}{
		"right":               {fresh, "ann", "sign-in", code, 0, challenge.Passed, true},
		"right, at the end":   {fresh, "ann", "sign-in", code, 10*time.Minute - 1, challenge.Passed, true},
		"right, in groups":    {fresh, "ann", "sign-in", code[:3] + " " + code[3:], 0, challenge.Passed, true},
		"too late":            {fresh, "ann", "sign-in", code, 10 * time.Minute, challenge.Expired, false},
		"wrong":               {fresh, "ann", "sign-in", wrong(code), 0, challenge.Wrong, true},
		"short":               {fresh, "ann", "sign-in", code[:5], 0, challenge.Malformed, false},
		"empty":               {fresh, "ann", "sign-in", "", 0, challenge.Malformed, false},
		"somebody else":       {fresh, "bob", "sign-in", code, 0, challenge.Unknown, false},
		"something else":      {fresh, "ann", "delete", code, 0, challenge.Unknown, false},
		"words moved":         {fresh, "anns", "ign-in", code, 0, challenge.Unknown, false},
		"the fifth try":       {with(func(c *challenge.Challenge) { c.Tries = 4 }), "ann", "sign-in", code, 0, challenge.Passed, true},
		"the sixth try":       {with(func(c *challenge.Challenge) { c.Tries = 5 }), "ann", "sign-in", code, 0, challenge.Exhausted, false},
		"a second time":       {with(func(c *challenge.Challenge) { c.Used, c.Tries = true, 1 }), "ann", "sign-in", code, 0, challenge.Used, false},
		"another's hash":      {with(func(c *challenge.Challenge) { c.Salt = []byte("other") }), "ann", "sign-in", code, 0, challenge.Wrong, true},
		"of an empty entry":   {challenge.Challenge{}, "ann", "sign-in", code, 0, challenge.Unknown, false},
		"owner without proof": {challenge.Challenge{Owner: fresh.Owner, Expires: fresh.Expires}, "ann", "sign-in", code, 0, challenge.Wrong, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.state
			next, outcome := secret.Verify(test.state, test.account, test.purpose, test.answer, start.Add(test.after))
			if outcome != test.want || (next.Tries == before.Tries+1) != test.counts || next.Used != (before.Used || outcome == challenge.Passed) {
				t.Errorf("outcome %s, tries %d to %d, used %t, want %s", outcome, before.Tries, next.Tries, next.Used, test.want)
			}
			if !test.counts && !reflect.DeepEqual(next, before) {
				t.Errorf("what did not count changed %+v to %+v", before, next)
			}
		})
	}
	if _, outcome := secretOf(t, 2).Verify(fresh, "ann", "sign-in", code, start); outcome == challenge.Passed {
		t.Error("the code passes with another server secret")
	}
}

// However answers come, at most five count, at most one passes, and nothing
// passes after the time.
func TestAnySequence(t *testing.T) {
	secret := secretOf(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		state, code := newChallenge(t, secret)
		now, counted, passed := start, 0, 0
		for range rapid.IntRange(1, 20).Draw(t, "answers") {
			now = now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
			answer := rapid.SampledFrom([]string{code, wrong(code), "12", code + " "}).Draw(t, "answer")
			next, outcome := secret.Verify(state, "ann", "sign-in", answer, now)
			counted += next.Tries - state.Tries
			if outcome == challenge.Passed {
				passed++
				if !now.Before(state.Expires) {
					t.Fatal("passed after its time")
				}
			}
			state = next
		}
		if counted > challenge.MaxTries || passed > 1 {
			t.Fatalf("%d tries counted, %d passed", counted, passed)
		}
	})
}

func TestCodesAreSixDigitsAndDiffer(t *testing.T) {
	secret := secretOf(t, 1)
	seen := map[string]int{}
	first := [10]int{}
	const n = 5000
	for range n {
		state, code := newChallenge(t, secret)
		if normal, ok := challenge.Normalize(code); !ok || normal != code {
			t.Fatalf("code %q", code)
		}
		if strings.Contains(string(state.Hash)+string(state.Salt)+state.Owner, code) {
			t.Fatal("the state holds the code")
		}
		seen[code]++
		first[code[0]-'0']++
	}
	if len(seen) < n*97/100 {
		t.Errorf("%d different codes of %d", len(seen), n)
	}
	for digit, times := range first {
		if times < n/10-150 || times > n/10+150 { // seven deviations
			t.Errorf("%d codes of %d begin with %d", times, n, digit)
		}
	}
	_, _, err := secret.NewChallenge(iotest.ErrReader(errors.New("no more")), "ann", "sign-in", start)
	if err == nil {
		t.Error("a code without randomness")
	}
}

func TestNormalize(t *testing.T) {
	for answer, want := range map[string]string{
		"012345": "012345", "012 345": "012345", "01-23-45": "012345", " 012345 ": "012345", "012\u00a0345": "012345",
		"": "", "12345": "", "1234567": "", "12345a": "", "１２３４５６": "", "12345\n": "", "-12345": "",
		strings.Repeat(" ", 100) + "012345": "",
	} {
		if got, ok := challenge.Normalize(answer); got != want || ok != (want != "") {
			t.Errorf("Normalize(%q) = %q, %t, want %q", answer, got, ok, want)
		}
	}
}
