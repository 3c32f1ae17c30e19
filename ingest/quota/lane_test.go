package quota_test

import (
	"context"
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
			turn, err := q.Enter(t.Context(), loud, 1)
			if err != nil {
				t.Error(err)
				return
			}
			inside <- struct{}{}
			<-proceed
			turn.Leave()
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
	if turn, err := q.Enter(t.Context(), quiet, 1); err != nil {
		t.Errorf("another key: %v", err)
	} else {
		turn.Leave()
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
		turn, err := q.Enter(t.Context(), g, events)
		if err != nil {
			t.Fatalf("%d events of %s: %v", events, g.KeyID, err)
		}
		return turn.Leave
	}
	leave := enter(loud, 500)
	second := make(chan func(), 1)
	go func() { // ends with leave
		turn, err := q.Enter(t.Context(), loud, 1)
		if err != nil {
			t.Error(err)
		}
		second <- turn.Leave
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

// TestALargeRequestRestsBesideOthers: while another project sends, a large request takes
// all turns of its key, and they are free only after a rest; alone, it takes turns by its size and
// does not rest.
func TestALargeRequestRestsBesideOthers(t *testing.T) {
	q, clock := newQuotas(t, quota.Config{KeyPerMinute: 60_000})
	large := func(size int64) *quota.Turn {
		t.Helper()
		turn, err := q.EnterLarge(t.Context(), loud, size)
		if err != nil {
			t.Fatal(err)
		}
		return &turn
	}
	tries := func() bool { // whether a small request finds a turn at once
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		turn, err := q.Enter(ctx, loud, 1)
		turn.Leave()
		return err == nil
	}
	alone := large(100 << 10)
	if !tries() || !alone.Covers(199) || alone.Covers(200) {
		t.Error("alone: 100 KiB are not three turns")
	}
	clock.at = clock.at.Add(time.Hour)
	alone.Leave()
	if n := q.Lanes(); n != 0 {
		t.Errorf("alone: %d lanes are left, as if it rested", n)
	}
	if _, err := q.Enter(t.Context(), other, 1); err != nil {
		t.Fatal(err)
	}
	beside := large(40 << 10)
	if tries() || !beside.Covers(100_000) {
		t.Error("beside another: a large request does not take all turns")
	}
	clock.at = clock.at.Add(time.Second)
	left := time.Now()
	beside.Leave()
	beside.Leave() // does nothing
	large(1).Refused()
	if rest := time.Since(left); rest < 20*time.Millisecond {
		t.Errorf("the next request came after %v", rest)
	}
	clock.at = clock.at.Add(time.Minute) // the other project is silent
	again := large(40 << 10)
	if !tries() {
		t.Error("alone again: a request of 40 KiB takes all turns")
	}
	again.Leave()
}
