package door

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/origin"
)

// from is a sender with a key, at the n-th address.
func from(key string, n byte) Sender {
	return Sender{Key: key, Addr: origin.Group(netip.AddrFrom4([4]byte{192, 0, 2, n}))}
}

// must opens a request that is granted at once.
func must(t *testing.T, b *Budget, s Sender, n int64) seat {
	t.Helper()
	at, err := b.open(t.Context(), s, n)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestBudgetWaitsInOrderAndRefusesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		ctx := t.Context()
		held := must(t, b, from("a", 1), 80)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.open(ctx, from("b", 1), 60); first <- err }()
		synctest.Wait()
		go func() { _, err := b.open(ctx, from("b", 1), 10); second <- err }() // would fit, but came later
		synctest.Wait()
		if b.InUse() != 80 {
			t.Fatalf("in use %d: somebody jumped the queue", b.InUse())
		}
		b.release(held, holding{1, 80})
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("70 of 100 for one key: %v", err)
		}
		if b.InUse() != 60 {
			t.Errorf("in use %d, want 60", b.InUse())
		}

		began := time.Now()
		if _, err := b.open(ctx, from("c", 1), 41); errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("a full budget: %v", err)
		}
		if waited := time.Since(began); waited != maxWait {
			t.Errorf("refused after %v, want %v", waited, maxWait)
		}
		at := must(t, b, from("c", 1), 10)
		if b.try(at, 31) || !b.try(at, 30) {
			t.Error("try must take what is left and no more")
		}
		if err := b.acquire(ctx, at, 101); errata.KindOf(err) != errata.KindOverloaded {
			t.Errorf("more than there is: %v", err)
		}
	})
}

func TestWhoGivesUpLetsTheNextThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		must(t, b, from("a", 1), 50)
		gone, cancel := context.WithCancel(t.Context())
		big, small := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.open(gone, from("b", 1), 90); big <- err }()
		synctest.Wait()
		go func() { _, err := b.open(t.Context(), from("b", 1), 50); small <- err }()
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

// Any number of keys and addresses take all that they can have. The rest is enough for
// a new sender.
func TestNobodyTakesAll(t *testing.T) {
	const one = 64 << 10
	for _, c := range []struct {
		name            string
		keys, addrs     int
		least           int64 // bytes that must be left
		places, perAddr int   // the most places of a key and of an address of it
	}{
		{name: "a key at one address", keys: 1, addrs: 1, least: DefaultBudget / 3, places: maxPlaces / 2, perAddr: maxPlaces / 2},
		{name: "a key at three addresses", keys: 1, addrs: 3, least: DefaultBudget / 3, places: maxPlaces * 3 / 4, perAddr: maxPlaces / 4},
		{name: "a key at a thousand addresses", keys: 1, addrs: 1000, least: DefaultBudget / 3, places: maxPlaces, perAddr: 1},
		{name: "thirty keys", keys: 30, addrs: 2, least: DefaultBudget / 70, places: maxPlaces, perAddr: maxPlaces / 2},
		{name: "no key, one address", keys: 0, addrs: 1, least: DefaultBudget * 7 / 8, places: maxPlaces / 2, perAddr: maxPlaces / 2},
		{name: "no key, many addresses", keys: 0, addrs: 200, least: DefaultBudget * 7 / 8, places: maxPlaces, perAddr: maxPlaces},
	} {
		for _, large := range []int64{one, 20 * one} {
			b := NewBudget(0)
			b.wait = 0
			keys := []string{""}
			if c.keys > 0 {
				keys = nil
				for k := range c.keys {
					keys = append(keys, fmt.Sprint("key ", k))
				}
			}
			for more := true; more; {
				more = false
				for _, key := range keys {
					for n := range c.addrs {
						s := Sender{Key: key, Addr: origin.Group(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}))}
						if _, err := b.open(t.Context(), s, large); err == nil {
							more = true
						}
					}
				}
			}
			if left := b.limit - b.InUse(); left < c.least {
				t.Errorf("%s, requests of %d: %d bytes are left, want %d", c.name, large, left, c.least)
			}
			for _, key := range keys {
				a := b.accounts[key]
				if a.total.requests > c.places {
					t.Errorf("%s: a key has %d places, want at most %d", c.name, a.total.requests, c.places)
				}
				for addr, h := range a.addrs {
					if h.requests > c.perAddr+1 {
						t.Errorf("%s: %v has %d places, want at most %d", c.name, addr, h.requests, c.perAddr)
					}
				}
			}
			if _, err := b.open(t.Context(), from("somebody else", 9), one); err != nil {
				t.Errorf("%s, requests of %d: another key: %v", c.name, large, err)
			}
		}
	}
}

func TestTheOnlyRequestOfAKeyMayTakeWhatThereIs(t *testing.T) {
	b := NewBudget(100)
	at := must(t, b, from("a", 1), 10)
	if !b.try(at, 80) {
		t.Error("90 of 100 for the only request")
	}
	if b.try(at, 11) {
		t.Error("101 of 100")
	}
	b.release(at, holding{bytes: 80})
	second := must(t, b, from("a", 2), 10)
	if b.try(at, 60) || !b.try(at, 40) {
		t.Error("of two requests, the key must have two thirds and no more")
	}
	b.release(at, holding{1, 50})
	b.release(second, holding{1, 10})
	if a := b.accounts["a"]; b.InUse() != 0 || a.total != (holding{}) || len(a.addrs) != 0 {
		t.Errorf("still held: %d, %+v", b.InUse(), a.total)
	}
}

// A key with many waiting requests does not delay the others: each free place goes to
// the next key, and within a key to the next address.
func TestTheLineIsServedInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000)
		var blocks []seat
		for n := range 10 { // each with a key of its own, so that no share is full
			blocks = append(blocks, must(t, b, from(fmt.Sprint("block ", n), 1), 100))
		}
		served := make(chan string, 100)
		wait := func(key string, n byte, times int) {
			for range times {
				go func() {
					s := from(key, n)
					if at, err := b.open(t.Context(), s, 100); err == nil {
						served <- fmt.Sprint(key, n)
						b.release(at, holding{1, 100}) // the next one's turn
					}
				}()
				synctest.Wait()
			}
		}
		wait("greedy", 1, 20)
		wait("modest", 1, 1)
		wait("greedy", 2, 1)
		wait("other", 1, 2)
		b.release(blocks[0], holding{1, 100})
		synctest.Wait()
		var order []string
		for len(served) > 0 {
			order = append(order, <-served)
		}
		if want := []string{"greedy1", "modest1", "other1", "greedy2", "other1", "greedy1"}; len(order) != 24 || !slices.Equal(order[:len(want)], want) {
			t.Errorf("served %d: %q", len(order), order)
		}
		if a := b.accounts["greedy"]; a.waiting != 0 || a.turn != nil || a.order.Len() != 0 || b.turns.Len() != 0 {
			t.Error("the line is not empty")
		}
	})
}

func TestTheLineHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		must(t, b, from("a", 1), 100)
		ended := make(chan error, maxWaiting)
		for range maxWaiting {
			go func() { _, err := b.open(t.Context(), from("b", 1), 1); ended <- err }()
		}
		synctest.Wait()
		began := time.Now()
		if _, err := b.open(t.Context(), from("b", 2), 1); errata.KindOf(err) != errata.KindOverloaded || time.Since(began) != 0 {
			t.Errorf("one too many waited %v: %v", time.Since(began), err)
		}
		for range maxWaiting {
			if err := <-ended; errata.KindOf(err) != errata.KindOverloaded {
				t.Error(err)
			}
		}
	})
}

func TestNoBudgetBoundsNothing(t *testing.T) {
	var b *Budget
	at, err := b.open(t.Context(), Sender{}, 1<<60)
	if err != nil || !b.try(at, 1<<60) || b.acquire(t.Context(), at, 1<<60) != nil || b.InUse() != 0 {
		t.Error("a nil budget must let everything through")
	}
	b.release(at, holding{bytes: 1 << 60})
	b.release(at, holding{1, 1 << 60})
	if NewBudget(0).limit != DefaultBudget {
		t.Error("0 must mean the default")
	}
}
