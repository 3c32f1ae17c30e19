package challenge_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signin/challenge"
)

func (b *bench) issue(t *testing.T, account string) challenge.Issued {
	t.Helper()
	issued, err := b.Issue(t.Context(), account, "sign-in", nowhere)
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

func answer(issued challenge.Issued, account, code string) challenge.Answer {
	return challenge.Answer{ID: issued.ID, Account: account, Purpose: "sign-in", Code: code}
}

func (b *bench) verify(t *testing.T, a challenge.Answer, want challenge.Outcome, left int) {
	t.Helper()
	verdict, err := b.Verify(t.Context(), a)
	if err != nil || verdict != (challenge.Verdict{Outcome: want, Left: left, Verified: want == challenge.Passed}) {
		t.Errorf("%q: %+v, error %v, want %s with %d left", a.Code, verdict, err, want, left)
	}
}

func TestIssueAndVerify(t *testing.T) {
	b := newBench(t)
	issued := b.issue(t, "ann")
	if !issued.Expires.Equal(start.Add(10*time.Minute)) || len(issued.ID) != 32 {
		t.Errorf("issued %s, good until %s", issued, issued.Expires)
	}
	if text := fmt.Sprintf("%v %s", issued, issued); strings.Contains(text, issued.Code) {
		t.Errorf("the code is in %q", text)
	}
	b.verify(t, answer(issued, "ann", wrong(issued.Code)), challenge.Wrong, 4)
	b.verify(t, answer(issued, "ann", "12"), challenge.Malformed, 4)
	b.verify(t, answer(issued, "bob", issued.Code), challenge.Unknown, 0)
	other := answer(issued, "ann", issued.Code)
	other.Purpose = "delete"
	b.verify(t, other, challenge.Unknown, 0)
	for _, id := range []string{"", strings.Repeat("0", 32), strings.ToUpper(issued.ID), ">", "*", issued.ID + ".x"} {
		b.verify(t, challenge.Answer{ID: id, Account: "ann", Purpose: "sign-in", Code: issued.Code}, challenge.Unknown, 0)
	}
	b.verify(t, answer(issued, "ann", issued.Code), challenge.Passed, 0)
	b.verify(t, answer(issued, "ann", issued.Code), challenge.Used, 0)

	late := b.issue(t, "ann")
	b.clock.Move(10 * time.Minute)
	b.verify(t, answer(late, "ann", late.Code), challenge.Expired, 0)

	guessed := b.issue(t, "ann")
	for left := 4; left >= 0; left-- {
		b.verify(t, answer(guessed, "ann", wrong(guessed.Code)), challenge.Wrong, left)
	}
	b.verify(t, answer(guessed, "ann", guessed.Code), challenge.Exhausted, 0)
}

// The buckets show neither who signs in nor the code.
func TestNothingIsStoredInTheClear(t *testing.T) {
	b := newBench(t)
	issued := b.issue(t, "ann@example.org")
	app, err := b.Enrol(t.Context(), "ann@example.org", "ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	for name, bucket := range map[string]interface {
		Keys(context.Context) ([]string, error)
		Get(context.Context, string) (string, error)
	}{"challenges": texts{b.challenges}, "enrolments": texts{b.enrolments}} {
		keys, err := bucket.Keys(t.Context())
		if err != nil || len(keys) < 2 {
			t.Fatalf("%s: keys %v, error %v", name, keys, err)
		}
		for _, key := range keys {
			value, err := bucket.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"ann", "example", `"` + issued.Code, app.Secret} {
				if strings.Contains(key+value, secret) {
					t.Errorf("%s: %s = %s holds %s", name, key, value, secret)
				}
			}
		}
	}
}

func limited(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	var e *errata.Error
	if !errors.As(err, &e) || e.Kind != errata.KindRateLimited || e.RetryAfter != wait {
		t.Errorf("error %v, want rate_limited for %s", err, wait)
	}
}

func TestRates(t *testing.T) {
	b := newBench(t)
	home := netip.MustParseAddr("2001:db8:1:2::7")
	for range 5 {
		b.issue(t, "ann")
	}
	_, err := b.Issue(t.Context(), "ann", "sign-in", nowhere)
	limited(t, err, 5*time.Minute)
	b.issue(t, "bob") // is another one
	for i := range 30 {
		if _, err := b.Issue(t.Context(), fmt.Sprint("account ", i), "sign-in", home); err != nil {
			t.Fatal(err)
		}
	}
	_, err = b.Issue(t.Context(), "carl", "sign-in", home.Next()) // the same network
	limited(t, err, 30*time.Second)

	b.clock.Move(5 * time.Minute)
	issued := b.issue(t, "ann")
	for range 20 { // for somebody else's challenge nothing of ann's is used up
		b.verify(t, answer(b.mustIssue(t), "ann", "123456"), challenge.Unknown, 0)
	}
	for range 3 { // right answers do not count
		good := b.mustIssue(t)
		b.verify(t, challenge.Answer{ID: good.ID, Account: b.last, Purpose: "sign-in", Code: good.Code}, challenge.Passed, 0)
	}
	for left := 4; left >= 0; left-- {
		b.verify(t, answer(issued, "ann", wrong(issued.Code)), challenge.Wrong, left)
	}
	b.clock.Move(5 * time.Minute) // one try back: 6 of 10
	second := b.issue(t, "ann")
	for left := 4; left >= 0; left-- {
		b.verify(t, answer(second, "ann", wrong(second.Code)), challenge.Wrong, left)
	}
	b.clock.Move(5 * time.Minute)
	third := b.issue(t, "ann")
	b.verify(t, answer(third, "ann", wrong(third.Code)), challenge.Wrong, 4)
	b.verify(t, answer(third, "ann", wrong(third.Code)), challenge.Wrong, 3)
	_, err = b.Verify(t.Context(), answer(third, "ann", third.Code))
	limited(t, err, 5*time.Minute)

	from := answer(third, "nobody", "1")
	from.Address = home
	for range 60 {
		b.verify(t, from, challenge.Unknown, 0)
	}
	_, err = b.Verify(t.Context(), from)
	limited(t, err, 10*time.Second)
}

// Fifty answers at once, on two nodes: five count, and the right one passes at
// most once.
func TestFiftyAtOnce(t *testing.T) {
	b := newBench(t)
	second, err := challenge.Open(t.Context(), b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	nodes := []*challenge.Checker{b.Checker, second}
	for name, test := range map[string]struct {
		right func(i int) bool
		// passes is how many pass, -1 for none or one.
		passes int
	}{
		"all wrong":  {func(int) bool { return false }, 0},
		"all right":  {func(int) bool { return true }, 1},
		"one right":  {func(i int) bool { return i == 49 }, -1},
		"some right": {func(i int) bool { return i%5 == 0 }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			issued := b.issue(t, "account of "+name)
			outcomes := b.atOnce(t, 50, func(i int) (challenge.Verdict, error) {
				a := answer(issued, "account of "+name, wrong(issued.Code))
				if test.right(i) {
					a.Code = issued.Code
				}
				return nodes[i%2].TryUnlimited(t.Context(), a)
			})
			heard := outcomes[challenge.Wrong] + outcomes[challenge.Passed]
			if heard > challenge.MaxTries || outcomes[challenge.Passed] > 1 || test.passes >= 0 && outcomes[challenge.Passed] != test.passes {
				t.Errorf("outcomes %v", outcomes)
			}
			if outcomes[challenge.Passed] == 0 && heard != challenge.MaxTries {
				t.Errorf("%d tries were heard, want %d: %v", heard, challenge.MaxTries, outcomes)
			}
		})
	}
	t.Run("within the rates", func(t *testing.T) {
		issued := b.issue(t, "dora")
		outcomes := b.atOnce(t, 50, func(i int) (challenge.Verdict, error) {
			return nodes[i%2].Verify(t.Context(), answer(issued, "dora", wrong(issued.Code)))
		})
		// Which of the two stops the others depends on how many had begun meanwhile.
		if notHeard := outcomes["rate_limited"] + outcomes[challenge.Exhausted]; outcomes[challenge.Wrong] != challenge.MaxTries || notHeard != 50-challenge.MaxTries {
			t.Errorf("outcomes %v, want 5 wrong and the rest not heard", outcomes)
		}
	})
}

// atOnce runs n answers at the same moment and counts their outcomes.
func (b *bench) atOnce(t *testing.T, n int, ask func(i int) (challenge.Verdict, error)) map[challenge.Outcome]int {
	t.Helper()
	var mu sync.Mutex
	outcomes := map[challenge.Outcome]int{}
	var asking sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		asking.Go(func() {
			<-begin
			verdict, err := ask(i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errata.KindOf(err) == errata.KindRateLimited:
				outcomes["rate_limited"]++
			case err != nil:
				t.Error(err)
			default:
				outcomes[verdict.Outcome]++
			}
		})
	}
	close(begin)
	asking.Wait()
	return outcomes
}

// Without the store nobody passes, and the error says when to try again.
func TestStoreAway(t *testing.T) {
	b := newBench(t)
	issued := b.issue(t, "ann")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, issue := b.Issue(ended, "ann", "sign-in", nowhere)
	verdict, verify := b.Verify(ended, answer(issued, "ann", issued.Code))
	_, enrol := b.Enrol(ended, "ann", "ann")
	_, enrolled := b.Enrolled(ended, "ann")
	_, app := b.VerifyApp(ended, challenge.Answer{Account: "ann", Code: "123456"})
	_, open := challenge.Open(ended, b.cfg)
	for name, err := range map[string]error{
		"issue": issue, "verify": verify, "enrol": enrol, "enrolled": enrolled, "app": app, "open": open, "remove": b.Remove(ended, "ann"),
	} {
		if errata.KindOf(err) != errata.KindLogUnavailable {
			t.Errorf("%s: error %v, want log_unavailable", name, err)
		}
	}
	if verdict.Outcome == challenge.Passed {
		t.Error("passed without a store")
	}
	b.verify(t, answer(issued, "ann", issued.Code), challenge.Passed, 0)
}

func TestOpen(t *testing.T) {
	b := newBench(t)
	for name, change := range map[string]func(*challenge.Config){
		"Challenges":    func(c *challenge.Config) { c.Challenges = nil },
		"Enrolments":    func(c *challenge.Config) { c.Enrolments = nil },
		"Secret":        func(c *challenge.Config) { c.Secret = nil },
		"in its place":  func(c *challenge.Config) { c.Secret = secretOf(t, 2) },
		"signin.secret": func(c *challenge.Config) { c.Secret = secretOf(t, 3) },
		"":              func(*challenge.Config) {},
	} {
		cfg := b.cfg
		change(&cfg)
		if _, err := challenge.Open(t.Context(), cfg); name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
	// As long as the API takes them, with the longest characters.
	longest := strings.Repeat("😀", 190)
	b.verify(t, answer(b.issue(t, longest), longest, "1"), challenge.Malformed, challenge.MaxTries)
	if _, err := b.Enrol(t.Context(), longest, longest); err != nil {
		t.Errorf("the longest account and label: %v", err)
	}
	for _, account := range []string{"", strings.Repeat("x", 761)} {
		if _, err := b.Issue(t.Context(), account, "sign-in", nowhere); err == nil {
			t.Errorf("issued for %q", account)
		}
	}
}
