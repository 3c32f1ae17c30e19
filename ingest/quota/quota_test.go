package quota_test

import (
	"context"
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
	counters := doortest.Counters(registry)
	const name = "errata_refused_events_total "
	if counters[name+"1 key_limit"] != 8 || counters[name+"100 key_limit"] != 1 || counters[name+"other key_limit"] != 50 || len(counters) != 101 {
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
