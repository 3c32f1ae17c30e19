package quota_test

import (
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest/quota"
)

// TestRequestsOfAKeyTakeTurns: few of many requests of a key are on their way to the
// log at once, all get their turn, and another key does not wait for them.
func TestRequestsOfAKeyTakeTurns(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 60_000})
	const requests = 100
	inside, proceed := make(chan struct{}), make(chan struct{})
	var done sync.WaitGroup
	for range requests {
		done.Go(func() {
			leave, err := q.Enter(t.Context(), loud, 1)
			if err != nil {
				t.Error(err)
				return
			}
			inside <- struct{}{}
			<-proceed
			leave()
		})
	}
	for range 6 {
		<-inside
	}
	select {
	case <-inside:
		t.Error("a seventh request is under way")
	case <-time.After(50 * time.Millisecond): // reason: only time shows that no request comes
	}
	if leave, err := q.Enter(t.Context(), quiet, 1); err != nil {
		t.Errorf("another key: %v", err)
	} else {
		leave()
	}
	if _, err := q.Enter(ended(), loud, 1); errata.KindOf(err) != errata.KindOverloaded {
		t.Errorf("a request whose sender is gone: %v", err)
	}
	for range requests - 6 {
		proceed <- struct{}{}
		<-inside
	}
	close(proceed)
	done.Wait()
	if n := q.Lanes(); n != 0 {
		t.Errorf("%d lanes are left behind", n)
	}
}

// Without a limit for keys nobody waits.
func TestNoTurnsWithoutALimit(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{ProjectPerMinute: 6})
	for _, q := range []*quota.Quotas{q, nil} {
		for n := range 100 {
			if _, err := q.Enter(ended(), loud, 1); err != nil {
				t.Fatalf("request %d: %v", n, err)
			}
		}
	}
}

// TestALargeRequestTakesTheTurnsOfMany: beside 500 events no other request of the key
// is on its way to the log; another key of the project and another project do not wait.
func TestALargeRequestTakesTheTurnsOfMany(t *testing.T) {
	q, _ := newQuotas(t, quota.Config{KeyPerMinute: 60_000})
	enter := func(g access.Grant, events int) func() {
		t.Helper()
		leave, err := q.Enter(t.Context(), g, events)
		if err != nil {
			t.Fatalf("%d events of %s: %v", events, g.KeyID, err)
		}
		return leave
	}
	leave := enter(loud, 500)
	second := make(chan func(), 1)
	go func() { // ends with leave
		leave, err := q.Enter(t.Context(), loud, 1)
		if err != nil {
			t.Error(err)
		}
		second <- leave
	}()
	enter(quiet, 99)()
	enter(other, 500)()
	select {
	case early := <-second:
		t.Error("a request is under way beside 500 events of its key")
		second <- early
	case <-time.After(50 * time.Millisecond): // reason: only time shows that no request comes
	}
	leave()
	(<-second)()
	if n := q.Lanes(); n != 0 {
		t.Errorf("%d lanes are left behind", n)
	}
}
