package body

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	errata "github.com/errata-log/errata"
)

func TestBudgetWaitsInOrderAndRefusesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		ctx := t.Context()
		if err := b.acquire(ctx, 80); err != nil {
			t.Fatal(err)
		}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- b.acquire(ctx, 60) }()
		synctest.Wait()
		go func() { second <- b.acquire(ctx, 10) }() // would fit, but came later
		synctest.Wait()
		if b.InUse() != 80 {
			t.Fatalf("in use %d: somebody jumped the queue", b.InUse())
		}
		b.release(80)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if b.InUse() != 70 {
			t.Errorf("in use %d, want 70", b.InUse())
		}

		began := time.Now()
		if err := b.acquire(ctx, 40); errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("a full budget: %v", err)
		}
		if waited := time.Since(began); waited != maxWait {
			t.Errorf("refused after %v, want %v", waited, maxWait)
		}
		if b.try(31) || !b.try(30) {
			t.Error("try must take what is left and no more")
		}
		if err := b.acquire(ctx, 101); errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("more than there is: %v", err)
		}
	})
}

func TestWhoGivesUpLetsTheNextThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		if err := b.acquire(t.Context(), 50); err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		big, small := make(chan error, 1), make(chan error, 1)
		go func() { big <- b.acquire(gone, 90) }()
		synctest.Wait()
		go func() { small <- b.acquire(t.Context(), 50) }()
		synctest.Wait()
		cancel()
		if err := <-big; errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("the one that left: %v", err)
		}
		if err := <-small; err != nil {
			t.Errorf("the next one: %v", err)
		}
		if b.InUse() != 100 {
			t.Errorf("in use %d, want 100", b.InUse())
		}
	})
}

func TestNoBudgetBoundsNothing(t *testing.T) {
	var b *Budget
	if err := b.acquire(t.Context(), 1<<60); err != nil || !b.try(1<<60) || b.InUse() != 0 || b.Limit() != 0 {
		t.Error("a nil budget must let everything through")
	}
	b.release(1 << 60)
	if NewBudget(0).Limit() != DefaultBudget {
		t.Error("0 must mean the default")
	}
}
