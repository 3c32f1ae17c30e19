package familiar_test

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
)

var (
	start = time.Date(2026, 11, 21, 3, 58, 25, 0, time.UTC)
	same  = gocmp.Options{gocmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmpopts.EquateEmpty()}
)

const day = 24 * time.Hour

func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}) }

func outcome(account string, at time.Time, n int, country string) familiar.Outcome {
	return familiar.Outcome{
		Account: familiar.Key(signin.Client, account), Side: signin.Client, At: at.UnixMilli(),
		Address: address(n), Place: signin.Place{Country: country}, Success: true,
	}
}

// model is what the state must be: all sign-ins of an account seen together.
func model(facts map[uint64]familiar.Outcome, account string, days int) (s familiar.State) {
	newest := int64(-1)
	addrs, places := map[netip.Addr]familiar.Seen[netip.Addr]{}, map[signin.Place]familiar.Seen[signin.Place]{}
	for seq, o := range facts {
		if o.Account != account || !o.Success {
			continue
		}
		at := o.At / (1000 * 60 * 60 * 24)
		newest = max(newest, at)
		later(addrs, familiar.Seen[netip.Addr]{What: o.Address, Day: at, Sequence: seq})
		if o.Place.Country != "" {
			later(places, familiar.Seen[signin.Place]{What: o.Place, Day: at, Sequence: seq})
		}
	}
	s.Addresses = latest(addrs, newest-int64(days), 16)
	s.Places = latest(places, newest-int64(days), 8)
	return s
}

func order[T comparable](a, b familiar.Seen[T]) int {
	return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Sequence, a.Sequence))
}

func later[T comparable](of map[T]familiar.Seen[T], s familiar.Seen[T]) {
	if known, found := of[s.What]; !found || order(s, known) < 0 {
		of[s.What] = s
	}
}

func latest[T comparable](of map[T]familiar.Seen[T], from int64, limit int) (list []familiar.Seen[T]) {
	for _, s := range of {
		if s.Day >= from {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, order[T])
	return list[:min(limit, len(list))]
}

func TestKey(t *testing.T) {
	seen := map[string]string{}
	for _, side := range []signin.Side{signin.Admin, signin.Client, "adm", ""} {
		for _, account := range []string{"", "ada", "Ada", "in", "inada", "client"} {
			key, who := familiar.Key(side, account), fmt.Sprintf("%q %q", side, account)
			if len(key) != 32 || key == "cursor" {
				t.Errorf("%s: key %q", who, key)
			}
			if other, found := seen[key]; found {
				t.Errorf("%s and %s share a key", who, other)
			}
			seen[key] = who
		}
	}
	// Logs and buckets have this key: with another one every account would be
	// forgotten.
	if got := familiar.Key(signin.Client, "ada@example.org"); got != "bea3dc3e7886d7e0e5975af51ca05a55" {
		t.Errorf("the key has become %s", got)
	}
}

func TestApply(t *testing.T) {
	var s familiar.State
	if got := s.Apply(1, familiar.Outcome{Success: false, Address: address(1), At: start.UnixMilli()}, 180); !gocmp.Equal(got, s, same) {
		t.Errorf("a failure made %+v", got)
	}
	for n := range 20 {
		s = s.Apply(uint64(n+1), outcome("ada", start.Add(time.Duration(n)*day), n, fmt.Sprint("C", n)), 180)
	}
	if len(s.Addresses) != 16 || s.Addresses[0].What != address(19) || s.Addresses[15].What != address(4) {
		t.Errorf("addresses %+v", s.Addresses)
	}
	if len(s.Places) != 8 || s.Places[0].What.Country != "C19" || s.Places[7].What.Country != "C12" {
		t.Errorf("places %+v", s.Places)
	}
	// Seen again, the oldest is the newest and the next oldest goes first.
	s = s.Apply(30, outcome("ada", start.Add(30*day), 4, ""), 180)
	s = s.Apply(31, outcome("ada", start.Add(31*day), 99, "DE"), 180)
	if s.Addresses[1].What != address(4) || len(s.Addresses) != 16 || s.Addresses[15].What != address(6) {
		t.Errorf("addresses %+v", s.Addresses)
	}
	// An outcome that is applied late counts with its own day and sequence.
	if late := s.Apply(2, outcome("ada", start.Add(day), 1, "C1"), 180); !gocmp.Equal(late, s, same) {
		t.Errorf("a late one changed %+v", late)
	}
	last := start.Add(31 * day)
	for _, test := range []struct {
		after time.Duration
		want  int
	}{{0, 16}, {180*day - 31*day + 6*day, 16}, {180*day - 31*day + 7*day, 15}, {180 * day, 1}, {181 * day, 0}} {
		if got := s.At(last.Add(test.after), 180); len(got.Addresses) != test.want {
			t.Errorf("after %s: %d addresses, want %d", test.after, len(got.Addresses), test.want)
		}
	}
	s = s.Apply(40, outcome("ada", last.Add(181*day), 7, "FR"), 180)
	want := familiar.Known{Addresses: []netip.Addr{address(7)}, Places: []signin.Place{{Country: "FR"}}}
	if got := s.At(last.Add(181*day), 180); !gocmp.Equal(got, want, same) || len(s.Addresses) != 1 || len(s.Places) != 1 {
		t.Errorf("known %+v of %+v", got, s)
	}
}
