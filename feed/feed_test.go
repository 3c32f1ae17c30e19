package feed_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/query"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far above what a poll takes; it says "never".
const patience = 10 * time.Second

// world is a log with its records, as much of them as the feed reads.
type world struct {
	mu       sync.Mutex
	at       uint64
	records  map[errata.RecordKey]errata.Record
	commands []feed.Command
	fails    error
	polls    int
	on       func()
	projects map[errata.Signature]uint64 // also of deleted records
	owners   int                         // calls of ProjectsOf
	stopped  bool
}

func newWorld() *world { return &world{at: 7, records: map[errata.RecordKey]errata.Record{}} }

// long: each function of the feed by itself.
func (w *world) config() feed.Config {
	return feed.Config{
		Checkpoint: func(context.Context) (uint64, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.polls++
			return w.at, w.fails
		},
		Commands: func(_ context.Context, after, upto uint64) (list []feed.Command, at uint64, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, c := range w.commands {
				if c.Sequence > after && c.Sequence <= upto {
					list = append(list, c)
				}
			}
			return list, upto, nil
		},
		Changed: func(_ context.Context, c query.Changes, limit int) (list []errata.Record, total uint64, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, r := range w.records {
				seq := r.Version.Sequence()
				if c.Projects.Has(r.Project) && seq >= c.From.Sequence() && seq < c.To.Sequence() && r.LastSeen.After(c.SeenFrom) && (c.SeenTo.IsZero() || r.LastSeen.Before(c.SeenTo)) {
					if total++; len(list) < limit {
						list = append(list, r)
					}
				}
			}
			return list, total, nil
		},
		Live: func(_ context.Context, keys []errata.RecordKey) (map[errata.RecordKey]errata.Record, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			found := map[errata.RecordKey]errata.Record{}
			for _, key := range keys {
				if r, there := w.records[key]; there {
					found[key] = r
				}
			}
			return found, nil
		},
		ProjectsOf: func(_ context.Context, keys []errata.RecordKey) (map[errata.Signature]uint64, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.owners++
			found := map[errata.Signature]uint64{}
			for _, key := range keys {
				if project, known := w.projects[key.Signature]; known {
					found[key.Signature] = project
				}
			}
			return found, nil
		},
		CountUsers: func(_ context.Context, records []errata.Record) error {
			for i := range records {
				records[i].Users = records[i].Count
			}
			return nil
		},
		Follow: func(on func()) (func() error, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.on, w.stopped = on, false
			return func() error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.stopped = true
				return nil
			}, nil
		},
	}
}

func key(n int) errata.RecordKey {
	k := errata.RecordKey{Book: errata.BookSystem}
	binary.BigEndian.PutUint32(k.Signature[:], uint32(n))
	return k
}

// fact does something by the next fact and announces it.
func (w *world) fact(do func(sequence uint64)) {
	w.mu.Lock()
	w.at++
	do(w.at)
	on := w.on
	w.mu.Unlock()
	if on != nil {
		on()
	}
}

// see counts the records from one number to another, last seen at a time.
func (w *world) see(from, to int, at time.Time) {
	w.fact(func(sequence uint64) {
		for n := from; n < to; n++ {
			k := key(n)
			w.records[k] = errata.Record{Book: k.Book, Signature: k.Signature, Version: errata.PositionOf(sequence, n), LastSeen: at}
		}
	})
}

func listen(t *testing.T, f *feed.Feed) feed.Listener {
	t.Helper()
	l, err := f.Listen(t.Context(), query.Projects{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// told waits for the next changes: the numbers of the records in their order,
// how many more, and the numbers of those that are gone.
func told(t *testing.T, l feed.Listener) (records []int, more uint64, gone []int) {
	t.Helper()
	select {
	case <-l.Ready():
	case <-time.After(patience):
		t.Fatal("nothing is told")
	}
	c := l.Take()
	for _, r := range c.Records {
		records = append(records, int(binary.BigEndian.Uint32(r.Signature[:])))
	}
	for _, k := range c.Gone {
		gone = append(gone, int(binary.BigEndian.Uint32(k.Signature[:])))
	}
	return records, c.More, gone
}

func newFeed(t *testing.T, w *world) *feed.Feed {
	t.Helper()
	f, err := feed.New(w.config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// TestWhatIsTold tries each way in which records change.
func TestWhatIsTold(t *testing.T) {
	w := newWorld()
	w.see(1, 3, time.Now())
	f := newFeed(t, w)
	l := listen(t, f)
	if l.Position() != 8 {
		t.Errorf("it begins at %d, want 8", l.Position())
	}
	old := time.Now().Add(-30 * 24 * time.Hour)
	for _, step := range []struct {
		name          string
		do            func()
		records, gone []int
		more          uint64
	}{
		{"new records", func() { w.see(10, 12, time.Now()) }, []int{11, 10}, nil, 0},
		{"a delete", func() {
			w.fact(func(seq uint64) {
				delete(w.records, key(10))
				w.commands = append(w.commands, feed.Command{Sequence: seq, Removes: []errata.RecordKey{key(10)}})
			})
		}, nil, []int{10}, 0},
		{"a status of an old record", func() {
			w.fact(func(seq uint64) {
				r := w.records[key(1)]
				r.Version, r.LastSeen, r.Status = errata.PositionOf(seq, 0), old, errata.StatusMuted
				w.records[key(1)] = r
				w.commands = append(w.commands, feed.Command{Sequence: seq, Touches: []errata.RecordKey{key(1), key(99)}})
			})
		}, []int{1}, nil, 0},
		{"a delete of what is seen again at once", func() {
			w.fact(func(seq uint64) {
				w.commands = append(w.commands, feed.Command{Sequence: seq, Removes: []errata.RecordKey{key(2)}})
				w.at++
				w.records[key(2)] = errata.Record{Book: errata.BookSystem, Signature: key(2).Signature, Version: errata.PositionOf(w.at, 0), LastSeen: time.Now()}
			})
		}, []int{2}, nil, 0},
		{"a cleanup", func() {
			w.fact(func(seq uint64) { w.commands = append(w.commands, feed.Command{Sequence: seq, Unnamed: 400}) })
		}, nil, nil, 400},
	} {
		step.do()
		records, more, gone := told(t, l)
		if diff := cmp.Diff([][]int{step.records, step.gone}, [][]int{records, gone}); diff != "" || more != step.more {
			t.Errorf("%s: %d more, want %d; records and gone (-want +got):\n%s", step.name, more, step.more, diff)
		}
	}
}

// TestManyChanges: a burst is told as its newest records and a count, and a
// listener that takes nothing stores no more than that.
func TestManyChanges(t *testing.T) {
	w := newWorld()
	f := newFeed(t, w)
	slow, quick := listen(t, f), listen(t, f)
	w.see(0, 250, time.Now())
	if records, more, _ := told(t, quick); len(records) != feed.MaxRecords || more != 150 {
		t.Errorf("a burst of 250 is told as %d and %d more", len(records), more)
	}
	w.see(1000, 1060, time.Now())
	if records, more, _ := told(t, quick); len(records) != 60 || more != 0 || records[0] != 1059 {
		t.Errorf("then %v and %d more", records, more)
	}
	listen(t, f) // it waits until all listeners are told, not only the quick one
	records, more, _ := told(t, slow)
	if len(records) != feed.MaxRecords || more != 210 || records[0] != 1059 || records[59] != 1000 {
		t.Errorf("together they are %d and %d more, the newest first: %v", len(records), more, records)
	}
}

// TestOldRecords: records last seen long ago are checked less often, and told
// once.
func TestOldRecords(t *testing.T) {
	feed.SetFarEvery(t, 300*time.Millisecond)
	w := newWorld()
	l := listen(t, newFeed(t, w))
	old := time.Now().Add(-24 * time.Hour)
	w.see(1, 3, old)
	if records, more, _ := told(t, l); !cmp.Equal(records, []int{2, 1}) || more != 0 {
		t.Errorf("told %v and %d more", records, more)
	}
	w.see(3, 4, old)
	w.see(5, 6, time.Now())
	var all []int
	for len(all) < 2 {
		records, _, _ := told(t, l)
		all = append(all, records...)
	}
	slices.Sort(all)
	if !cmp.Equal(all, []int{3, 5}) {
		t.Errorf("then %v", all)
	}
}

// TestTroubleIsMadeUpFor: changes during an outage of the store are told after
// it.
func TestTroubleIsMadeUpFor(t *testing.T) {
	w := newWorld()
	f := newFeed(t, w)
	l := listen(t, f)
	w.mu.Lock()
	w.fails = errors.New("away")
	w.mu.Unlock()
	if other, err := f.Listen(t.Context(), query.Projects{}); err != nil { // the poller runs and knows where
		t.Errorf("while the store is away: %v", err)
	} else {
		other.Close()
	}
	w.see(1, 2, time.Now())
	w.mu.Lock()
	w.fails = nil
	w.mu.Unlock()
	if records, _, _ := told(t, l); !cmp.Equal(records, []int{1}) {
		t.Errorf("told %v", records)
	}
}

// TestNobodyListens: without listeners nothing is asked, and a feed that was
// closed takes no new ones.
func TestNobodyListens(t *testing.T) {
	w := newWorld()
	f := newFeed(t, w)
	one, two := listen(t, f), listen(t, f)
	one.Close()
	one.Close()
	w.see(1, 2, time.Now())
	told(t, two)
	two.Close()
	f.Close() // waits for the poller
	w.mu.Lock()
	polls, stopped := w.polls, w.stopped
	w.mu.Unlock()
	if !stopped || polls == 0 {
		t.Errorf("%d polls, follower stopped: %v", polls, stopped)
	}
	if _, err := f.Listen(t.Context(), query.Projects{}); errata.KindOf(err) != errata.KindStoreUnavailable {
		t.Errorf("after the end: %v", err)
	}

	again := newFeed(t, w)
	last := listen(t, again)
	again.Close()
	<-last.Done()

	w.fails = errors.New("away")
	if _, err := newFeed(t, w).Listen(t.Context(), query.Projects{}); errata.KindOf(err) != errata.KindStoreUnavailable {
		t.Errorf("without a store: %v", err)
	}
	if _, err := feed.New(feed.Config{}); err == nil {
		t.Error("a feed without anything to ask is made")
	}
}
