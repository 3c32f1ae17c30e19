package challenge_test

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/signin/challenge"
)

func TestTake(t *testing.T) {
	rate := challenge.Rate{Burst: 3, Every: time.Minute}
	var level challenge.Level
	take := func(now time.Time, want time.Duration) {
		t.Helper()
		next, wait := rate.Take(level, now)
		if wait != want {
			t.Errorf("at %s: wait %s, want %s", now.Sub(start), wait, want)
		}
		level = next
	}
	for range 3 {
		take(start, 0)
	}
	take(start, time.Minute)
	take(start.Add(20*time.Second), 40*time.Second)
	take(start.Add(time.Minute), 0)
	take(start.Add(time.Minute), time.Minute)
	level = rate.Give(level, start.Add(time.Minute))
	take(start.Add(time.Minute), 0)
	for range 3 { // full again, and no fuller
		take(start.Add(time.Hour), 0)
	}
	take(start.Add(time.Hour), time.Minute)
	take(start.Add(-24*time.Hour), time.Minute) // the clock was set back
}

// No period has more tokens than the burst and those that come back in it.
func TestRateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := challenge.Rate{Burst: rapid.IntRange(1, 10).Draw(t, "burst"), Every: time.Duration(rapid.IntRange(1, 60).Draw(t, "every")) * time.Second}
		var level challenge.Level
		var taken []time.Time
		now := start
		for range rapid.IntRange(1, 80).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30_000).Draw(t, "ms")) * time.Millisecond)
			next, wait := rate.Take(level, now)
			if wait == 0 {
				taken = append(taken, now)
			} else if _, again := rate.Take(next, now.Add(wait)); again != 0 {
				t.Fatalf("told to wait %s, and then %s more", wait, again)
			}
			level = next
		}
		for i, from := range taken {
			for j := i; j < len(taken); j++ {
				if most := rate.Burst + int(taken[j].Sub(from)/rate.Every); j-i+1 > most {
					t.Fatalf("%d within %s, want at most %d", j-i+1, taken[j].Sub(from), most)
				}
			}
		}
	})
}

func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := challenge.Origin(netip.MustParseAddr(address)); got != want {
			t.Errorf("Origin(%s) = %s, want %s", address, got, want)
		}
	}
	if got := challenge.Origin(netip.Addr{}); got != "" {
		t.Errorf("no address is counted as %s", got)
	}
}

// A NATS bucket that dropped a level before the rate is full would give tokens
// too early.
func TestBucketKeepsLongEnough(t *testing.T) {
	b := newBench(t)
	status, err := b.challenges.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if apps, err := b.enrolments.Status(t.Context()); err != nil || apps.TTL() != 0 {
		t.Errorf("enrolments are forgotten after %s, error %v", apps.TTL(), err)
	}
	for name, rate := range map[string]challenge.Rate{
		"issue account": challenge.IssueAccount, "issue address": challenge.IssueAddress,
		"try account": challenge.TryAccount, "try address": challenge.TryAddress,
		"a code": {Burst: 1, Every: challenge.CodeLife},
	} {
		if need := time.Duration(rate.Burst) * rate.Every; status.TTL() < need || status.TTL() == 0 {
			t.Errorf("%s needs %s, and the bucket forgets after %s", name, need, status.TTL())
		}
	}
}
