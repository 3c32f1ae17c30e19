package quota_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/quota"
)

// clock is set by the test.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newQuotas(t interface{ Fatal(...any) }, cfg quota.Config) (*quota.Quotas, *clock) {
	c := &clock{time.Unix(1_800_000_000, 0)}
	cfg.Now = c.now
	q, err := quota.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return q, c
}

var (
	loud  = access.Grant{Project: 1, KeyID: "loud"}
	quiet = access.Grant{Project: 1, KeyID: "quiet"}
	other = access.Grant{Project: 2, KeyID: "other"}
)

func TestAKeyThatFloodsWaitsAlone(t *testing.T) {
	q, clock := newQuotas(t, quota.Config{KeyPerMinute: 600, ProjectPerMinute: 6000}) // 10 a second, 100 at once
	for n := range 100 {
		if err := q.Check(loud); err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		q.Charge(loud, 1)
	}
	err := q.Check(loud)
	if errata.KindOf(err) != errata.KindRateLimited || door.RetrySeconds(door.Told(err)) != 1 || quota.ScopeOf(err) != quota.OfKey {
		t.Errorf("event 101: %v", err)
	}
	for _, g := range []access.Grant{quiet, other} {
		if err := q.Check(g); err != nil {
			t.Errorf("%s: %v", g.KeyID, err)
		}
	}
	clock.at = clock.at.Add(100 * time.Millisecond)
	if err := q.Check(loud); err != nil {
		t.Errorf("a tenth of a second later: %v", err)
	}
}

// A batch of any size is taken as a whole, and the debt is paid afterwards.
func TestABatchIsTakenWholeAndPaidFor(t *testing.T) {
	q, clock := newQuotas(t, quota.Config{KeyPerMinute: 600})
	q.Charge(loud, 99)
	if err := q.Check(loud); err != nil {
		t.Fatal(err)
	}
	q.Charge(loud, 1000) // one was there
	told := door.Told(q.Check(loud))
	if told.Kind != errata.KindRateLimited || door.RetrySeconds(told) != 100 {
		t.Fatalf("after the batch: %v, wait %v, want 100 s", told, told.RetryAfter)
	}
	clock.at = clock.at.Add(99 * time.Second)
	if q.Check(loud) == nil {
		t.Error("the debt is forgiven after 99 s")
	}
	clock.at = clock.at.Add(time.Second)
	if err := q.Check(loud); err != nil {
		t.Errorf("after 100 s: %v", err)
	}
}

func TestKeysOfAProjectShareItsLimit(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 6000, ProjectPerMinute: 600})
	q.Charge(loud, 60)
	q.Charge(quiet, 60)
	err := q.Check(quiet)
	if errata.KindOf(err) != errata.KindRateLimited || quota.ScopeOf(err) != quota.OfProject {
		t.Errorf("the project has sent 120 of 100: %v, of %s", err, quota.ScopeOf(err))
	}
	if err := q.Check(other); err != nil {
		t.Errorf("another project: %v", err)
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{})
	for _, q := range []*quota.Quotas{q, nil} {
		q.Charge(loud, 1_000_000_000)
		if err := q.Check(loud); err != nil {
			t.Error(err)
		}
		if err := q.Wait(t.Context(), loud); err != nil {
			t.Error(err)
		}
		q.Settle(t.Context(), nil)
	}
	if _, err := quota.New(quota.Config{KeyPerMinute: -1}); err == nil {
		t.Error("a negative limit is taken")
	}
}

// TestNobodyGetsMoreThanTheLimit: with requests of any size at any time, a key gets at
// most a full bucket, the events that came back meanwhile, and one request more. It
// gets all of that if it asks often enough.
func TestNobodyGetsMoreThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const perSecond, burst, largest = 10, 100, 50
		q, clock := newQuotas(t, quota.Config{KeyPerMinute: 60 * perSecond})
		began, got := clock.at, 0
		for range rapid.IntRange(1, 300).Draw(t, "requests") {
			clock.at = clock.at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			events := rapid.IntRange(0, largest).Draw(t, "events")
			err := q.Check(loud)
			if err == nil {
				q.Charge(loud, events)
				got += events
			}
			due := burst + perSecond*clock.at.Sub(began).Seconds()
			if float64(got) > due+largest {
				t.Fatalf("%d events in %v, want at most %.0f", got, clock.at.Sub(began), due+largest)
			}
			if err != nil {
				// RetryAfter is long enough, and not longer than needed.
				wait := door.Told(err).RetryAfter
				clock.at = clock.at.Add(wait + time.Millisecond)
				if err := q.Check(loud); err != nil {
					t.Fatalf("refused again after the wait of %v: %v", wait, err)
				}
			}
		}
	})
}

// Refusals are counted by project and reason, with a bounded number of labels.
func TestRefusalsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 6, ProjectPerMinute: 60_000, Registerer: registry})
	for project := range uint64(150) {
		g := access.Grant{Project: project + 1, KeyID: "key"}
		if project == 0 {
			q.Charge(g, 100)
		}
		q.Settle(ended(), q.Check(g))
	}
	q.Settle(ended(), quota.Holding(q.Check(access.Grant{Project: 1, KeyID: "key"}), 7))
	q.Settle(ended(), errata.Errorf(errata.KindRateLimited, "somebody else's"))
	q.Dropped(2, 5)
	q.Dropped(2, 0)
	q.Dropped(3000, 1)
	counters := doortest.Counters(registry)
	const name = "errata_refused_events_total "
	if counters[name+"1 key_limit"] != 8 || counters[name+"100 key_limit"] != 1 || counters[name+"other key_limit"] != 50 || len(counters) != 103 || counters[name+"2 noise_rule"] != 5 || counters[name+"other noise_rule"] != 1 {
		t.Errorf("%d counters: %v", len(counters), counters)
	}
}

// ended is the context of a sender that is gone: its answer is not delayed.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// The first refusals of a key are answered at once, further ones are delayed.
func TestManyRefusalsAreKeptBack(t *testing.T) {
	q, clock := newQuotas(t, quota.Config{KeyPerMinute: 6})
	q.Charge(loud, 100)
	for range 50 {
		q.Settle(ended(), q.Check(loud))
	}
	refused := q.Check(loud)
	began := time.Now()
	q.Settle(t.Context(), refused)
	if kept := time.Since(began); kept < 15*time.Millisecond {
		t.Errorf("refusal 51 of a moment was kept back for %v", kept)
	}
	clock.at = clock.at.Add(10 * time.Second)
	began = time.Now()
	q.Settle(ended(), refused)
	if kept := time.Since(began); kept > time.Second {
		t.Errorf("a sender that is gone was waited for, %v", kept)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 6})
	q.Charge(loud, 100)
	if err := q.Wait(ended(), loud); err == nil {
		t.Error("the wait for an empty bucket ended well")
	}
}

// TestAProjectsOwnLimit: it replaces that of the service from the next request on, lower
// or higher, and without a limit of its own a project has that of the service again.
func TestAProjectsOwnLimit(t *testing.T) {
	own := map[uint64]uint64{}
	q, clock := newQuotas(t, quota.Config{ProjectPerMinute: 600, OfProject: func(project uint64) (uint64, bool) {
		limit, ok := own[project]
		return limit, ok
	}})
	refused := func(want string) {
		t.Helper()
		for _, g := range []access.Grant{loud, other} {
			err := q.Check(g)
			if should := g.Project == 1 && want != ""; should != (err != nil) {
				t.Fatalf("project %d: %v", g.Project, err)
			}
			if err == nil {
				continue
			}
			if errata.KindOf(err) != errata.KindRateLimited || quota.ScopeOf(err) != quota.OfProject || !strings.Contains(err.Error(), "this project has sent more events than its limit") || !strings.Contains(err.Error(), want) {
				t.Errorf("%v", err)
			}
		}
	}
	q.Charge(loud, 99)
	refused("")
	own[1] = 60 // 1 a second, 10 at once
	refused("")
	q.Charge(loud, 1)
	refused("limits.events_per_minute of the project")
	if wait := door.Told(q.Check(loud)).RetryAfter; wait != time.Second {
		t.Errorf("wait of %v at one event a second", wait)
	}
	clock.at = clock.at.Add(time.Hour)
	q.Charge(loud, 9)
	refused("")
	q.Charge(loud, 1)
	refused("limits.events_per_minute of the project")
	own[1] = 6000
	refused("limits.events_per_minute of the project")
	clock.at = clock.at.Add(10 * time.Millisecond)
	refused("")
	q.Charge(loud, 100_000)
	refused("limits.events_per_minute of the project")
	own[1] = 0
	q.Charge(loud, 100_000)
	refused("")
	delete(own, 1)
	refused("project-events-per-minute")
	own[2] = 0 // the other project never had a limit that it reached
	q.Charge(other, 1_000_000)
	refused("project-events-per-minute")
}

// TestAProjectsLimitOfAServiceWithoutOne: 0 for all, and one project has a limit.
func TestAProjectsLimitOfAServiceWithoutOne(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{OfProject: func(project uint64) (uint64, bool) { return 6, project == 1 }})
	q.Charge(loud, 1)
	q.Charge(other, 1)
	if q.Check(loud) == nil {
		t.Error("the limit of the project does not hold")
	}
	if err := q.Check(other); err != nil {
		t.Errorf("another project: %v", err)
	}
}

// TestARaisedLimitEndsTheWait: a receiver that waits goes on soon after the limit was
// raised, long before the debt at the old limit were paid.
func TestARaisedLimitEndsTheWait(t *testing.T) {
	var limit atomic.Uint64
	limit.Store(1)
	q, err := quota.New(quota.Config{OfProject: func(uint64) (uint64, bool) { return limit.Load(), true }})
	if err != nil {
		t.Fatal(err)
	}
	q.Charge(loud, 2) // a minute or two
	waited := make(chan error, 1)
	go func() { waited <- q.Wait(t.Context(), loud) }()
	limit.Store(0)
	select {
	case err := <-waited:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the wait goes on")
	}
}

// Without rules and limits of its own a project costs no memory for each request.
func TestCheckAllocatesNothing(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 60_000, ProjectPerMinute: 60_000, OfProject: func(uint64) (uint64, bool) { return 0, false }})
	q.Charge(loud, 1)
	if n := testing.AllocsPerRun(100, func() {
		if q.Check(loud) != nil {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
