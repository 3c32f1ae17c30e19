package feed_test

import (
	"slices"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/query"
)

// TestListenersOfProjects: who listens to a project is told what changes in it, and
// learns nothing of the others.
//
// long: the life of a few records, whose steps build on each other.
func TestListenersOfProjects(t *testing.T) {
	w := newWorld()
	w.projects = map[errata.Signature]uint64{}
	f := newFeed(t, w)
	to := func(among query.Projects) feed.Listener {
		l, err := f.Listen(t.Context(), among)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	all, first, again, none := to(query.Projects{}), to(query.OnlyProjects(1)), to(query.OnlyProjects(1)), to(query.OnlyProjects())
	check := func(what string, l feed.Listener, records []int, gone []int, more uint64) {
		t.Helper()
		gotRecords, gotMore, gotGone := told(t, l)
		if !slices.Equal(gotRecords, records) || !slices.Equal(gotGone, gone) || gotMore != more {
			t.Errorf("%s: records %v, gone %v, %d more; want %v, %v, %d", what, gotRecords, gotGone, gotMore, records, gone, more)
		}
	}
	see := func(numbers ...int) { // even numbers are of project 2
		w.fact(func(sequence uint64) {
			for _, n := range numbers {
				k := key(n)
				project := uint64(1 + (n+1)%2)
				w.projects[k.Signature] = project
				w.records[k] = errata.Record{Book: k.Book, Signature: k.Signature, Project: project, Version: errata.PositionOf(sequence, n), LastSeen: time.Now()}
			}
		})
	}
	see(1, 2, 3)
	check("all", all, []int{3, 2, 1}, nil, 0)
	check("of project 1", first, []int{3, 1}, nil, 0)
	check("of project 1, once more", again, []int{3, 1}, nil, 0)

	remove := func(removes ...errata.RecordKey) {
		w.fact(func(sequence uint64) {
			for _, k := range removes {
				delete(w.records, k)
			}
			w.commands = append(w.commands, feed.Command{Sequence: sequence, Removes: removes})
		})
	}
	remove(key(2), key(3), key(77)) // nobody knows 77
	check("all after a delete", all, nil, []int{2, 3, 77}, 0)
	check("project 1 after a delete", first, nil, []int{3}, 0)

	w.fact(func(sequence uint64) { w.commands = append(w.commands, feed.Command{Sequence: sequence, Unnamed: 40}) })
	check("all after a cleanup", all, nil, nil, 40)
	check("project 1 after a cleanup", first, nil, nil, 1)

	w.fact(func(sequence uint64) {
		w.commands = append(w.commands, feed.Command{Sequence: sequence, Unnamed: 5, Within: []uint64{2}})
	})
	check("all after a cleanup of project 2", all, nil, nil, 5)

	see(4) // of project 2 alone
	check("all after a record of project 2", all, []int{4}, nil, 0)
	select {
	case <-first.Ready():
		t.Error("the listener of project 1 was woken by project 2")
	default:
	}
	select {
	case <-none.Ready():
		t.Errorf("who listens to no project is told %+v", none.Take())
	default:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owners != 1 {
		t.Errorf("projects of deleted records were looked up %d times, want once", w.owners)
	}
}
