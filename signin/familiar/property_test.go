package familiar_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/signin"
	"github.com/errata-log/errata/signin/familiar"
)

// store is a bucket in memory. before is called at each Put, and its error is
// the answer.
type store struct {
	mu       sync.Mutex
	values   map[string][]byte
	revision map[string]uint64
	last     uint64
	before   func(key string) error
}

func newStore() *store { return &store{values: map[string][]byte{}, revision: map[string]uint64{}} }

func (s *store) Get(_ context.Context, key string) ([]byte, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key] == nil {
		return nil, 0, bucket.ErrNotFound
	}
	return s.values[key], s.revision[key], nil
}

func (s *store) Put(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if s.before != nil {
		if err := s.before(key); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision[key] != revision {
		return 0, bucket.ErrConflict
	}
	s.last++
	s.values[key], s.revision[key] = value, s.last
	return s.last, nil
}

func (s *store) Delete(context.Context, string) error { return errors.New("nothing is ever removed") }

func (s *store) state(t interface{ Fatal(...any) }, account string) (state familiar.State) {
	data, _, err := s.Get(context.Background(), account)
	if errors.Is(err, bucket.ErrNotFound) {
		return state
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	return state
}

// memoryLog is a log of outcomes with holes where other facts stand. Its
// readers end at its end and close caughtUp.
type memoryLog struct {
	mu          sync.Mutex
	id          string
	facts       map[uint64]familiar.Outcome
	first, last uint64
	caughtUp    chan struct{}
	from        []uint64 // of each Read
}

func (l *memoryLog) Span(context.Context) (string, uint64, uint64, error) {
	return l.id, l.first, l.last, nil
}

func (l *memoryLog) Read(_ context.Context, from uint64) (familiar.Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = append(l.from, from)
	if from < l.first || from > l.last+1 {
		return nil, fmt.Errorf("read from %d of %d to %d", from, l.first, l.last)
	}
	return &memoryReader{l, from}, nil
}

type memoryReader struct {
	log  *memoryLog
	next uint64
}

func (r *memoryReader) Close() {}

func (r *memoryReader) Next(ctx context.Context) (eventlog.Fact, error) {
	for ; r.next <= r.log.last; r.next++ {
		if o, found := r.log.facts[r.next]; found {
			data, err := json.Marshal(o)
			r.next++
			return eventlog.Fact{Sequence: r.next - 1, Data: data}, err
		}
	}
	select { // more than one reader may come here
	case <-r.log.caughtUp:
	default:
		close(r.log.caughtUp)
	}
	<-ctx.Done()
	return eventlog.Fact{}, ctx.Err()
}

// followAll runs a follower until it has applied everything, and stops it.
func followAll(t interface{ Fatal(...any) }, m *familiar.Memory, log *memoryLog) {
	log.caughtUp = make(chan struct{})
	f, err := familiar.NewFollower(m, log, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Start()
	<-log.caughtUp
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func newMemory(t interface{ Fatal(...any) }, s bucket.Store, days int) *familiar.Memory {
	m, err := familiar.New(familiar.Config{Store: s, Days: days, Now: func() time.Time { return start }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAnyOrder: outcomes come from nodes whose clocks differ. The nodes apply
// them in any order, twice, or not at all before a crash, while other nodes
// change the same account; followers start and stop. In the end the bucket is
// as in the model, and so is a bucket that is filled anew.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.IntRange(1, 12).Draw(t, "days")
		s, log := newStore(), &memoryLog{id: "1", facts: map[uint64]familiar.Outcome{}, first: 1}
		m := newMemory(t, s, days)
		accounts := []string{"ada", "bob"}
		crash := errors.New("crash")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2, 3, 4:
				log.last += uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
				at := start.Add(time.Duration(rapid.IntRange(-15, 15).Draw(t, "day")) * day)
				o := outcome(rapid.SampledFrom(accounts).Draw(t, "account"), at, rapid.IntRange(1, 25).Draw(t, "address"),
					rapid.SampledFrom([]string{"", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J"}).Draw(t, "country"))
				o.Success = rapid.IntRange(0, 5).Draw(t, "success") > 0
				log.facts[log.last] = o
			case 5, 6, 7: // a node applies its own, late or again, and another is in between
				seq := uint64(rapid.IntRange(1, 150).Draw(t, "sequence"))
				o, found := log.facts[seq]
				if !found {
					continue
				}
				crashes := rapid.Bool().Draw(t, "crashes")
				other := uint64(rapid.IntRange(1, 150).Draw(t, "other"))
				s.before = func(string) error {
					s.before = nil
					if crashes {
						return crash
					}
					if o, found := log.facts[other]; found {
						return m.Apply(t.Context(), other, o)
					}
					return nil
				}
				if err := m.Apply(t.Context(), seq, o); err != nil && !errors.Is(err, crash) {
					t.Fatal(err)
				}
				s.before = nil
			default:
				followAll(t, m, log)
			}
		}
		followAll(t, m, log)
		anew := newStore()
		followAll(t, newMemory(t, anew, days), log)
		for _, name := range accounts {
			account := familiar.Key(signin.Client, name)
			want := model(log.facts, account, days)
			if diff := gocmp.Diff(want, s.state(t, account), same); diff != "" {
				t.Fatalf("%s (-model +bucket):\n%s", name, diff)
			}
			if diff := gocmp.Diff(want, anew.state(t, account), same); diff != "" {
				t.Fatalf("%s (-model +made anew):\n%s", name, diff)
			}
		}
	})
}

// TestPosition: following goes on behind the stored position, or from the first
// outcome when that position is useless.
func TestPosition(t *testing.T) {
	s, log := newStore(), &memoryLog{id: "1", facts: map[uint64]familiar.Outcome{}, first: 1, last: 9}
	for seq := uint64(1); seq <= 9; seq += 2 {
		log.facts[seq] = outcome("ada", start, int(seq), "DE")
	}
	m := newMemory(t, s, 180)
	follow := func(what string, from uint64) {
		t.Helper()
		log.from = nil
		followAll(t, m, log)
		if len(log.from) != 1 || log.from[0] != from {
			t.Errorf("%s: read from %v, want %d", what, log.from, from)
		}
	}
	follow("an empty bucket", 1)
	follow("when all is applied", 10)
	log.id = "2"
	follow("another log", 1)
	log.last = 5
	log.facts = map[uint64]familiar.Outcome{5: log.facts[5]}
	follow("a shorter log", 1)
	follow("the position is then the shorter one's", 6)
	log.first, log.last = 20, 30
	log.facts[25] = outcome("ada", start, 25, "DE")
	follow("a purged log", 20)
	s.values["cursor"] = []byte("{")
	follow("a damaged position", 20)
	if got := len(s.state(t, familiar.Key(signin.Client, "ada")).Addresses); got != 6 {
		t.Errorf("%d addresses, want 6", got)
	}
}

// TestFullStore: an outcome without room is left out and the others are
// applied.
func TestFullStore(t *testing.T) {
	s, log := newStore(), &memoryLog{id: "1", facts: map[uint64]familiar.Outcome{1: outcome("ada", start, 1, "DE"), 2: outcome("bob", start, 2, "DE")}, first: 1, last: 2}
	ada, bob := familiar.Key(signin.Client, "ada"), familiar.Key(signin.Client, "bob")
	s.before = func(key string) error {
		if key == ada {
			return bucket.ErrFull
		}
		return nil
	}
	followAll(t, newMemory(t, s, 180), log)
	if len(s.state(t, ada).Addresses) != 0 || len(s.state(t, bob).Addresses) != 1 {
		t.Errorf("the bucket has %v", maps.Keys(s.values))
	}
}

func TestDamagedState(t *testing.T) {
	s := newStore()
	m, ada := newMemory(t, s, 180), familiar.Key(signin.Client, "ada")
	s.values[ada] = []byte(`{"addrs":7}`)
	if known, err := m.Known(t.Context(), ada); err != nil || len(known.Addresses) != 0 {
		t.Errorf("known %+v, %v, want nothing", known, err)
	}
	if err := m.Apply(t.Context(), 1, outcome("ada", start, 1, "DE")); err != nil {
		t.Fatal(err)
	}
	if known, err := m.Known(t.Context(), ada); err != nil || len(known.Addresses) != 1 {
		t.Errorf("known %+v, %v", known, err)
	}
}
