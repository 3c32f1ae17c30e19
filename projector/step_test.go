package projector

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

// sums are what the rollups get of a record.
type sums struct {
	Hours    map[hourCount]uint64
	Deployed map[deploymentKey]deployment
}

// add adds up the changes of a record, as the tables do.
func (s *sums) add(c *change) {
	if s.Hours == nil {
		s.Hours, s.Deployed = map[hourCount]uint64{}, map[deploymentKey]deployment{}
	}
	for _, h := range c.hours.list {
		s.Hours[hourCount{hour: h.hour, level: h.level}] += h.count
	}
	for _, d := range c.deployed.list {
		key := deploymentKey{d.environment, d.release}
		if sum, there := s.Deployed[key]; there {
			sum.add(d)
			s.Deployed[key] = sum
		} else {
			s.Deployed[key] = d
		}
	}
}

// joining folds a log in batches and joins their steps, beside what the tables would get.
type joining struct {
	t                *rapid.T
	batch            *batch
	waiting          *step
	records, written map[recordKey]*errata.Record // behind the batches, and behind the steps
	want, got        map[recordKey]*sums          // likewise
	events, folded   uint64                       // likewise
}

func countSums(in map[recordKey]*sums, c *change) {
	if in[c.key] == nil {
		in[c.key] = &sums{}
	}
	in[c.key].add(c)
}

// cut ends the batch.
func (j *joining) cut() {
	if len(j.batch.order) == 0 {
		return
	}
	changes, _ := changesOf(j.batch, j.batch.order, j.records, nil)
	for i := range changes {
		j.records[changes[i].key] = changes[i].now
		countSums(j.want, &changes[i])
	}
	j.events += j.batch.events
	j.waiting = j.waiting.join(&step{work: &commit{changes: changes}, folded: j.batch.folded}).indexed()
	j.waiting.release()
	j.batch = newBatch(rolledTo{})
}

// flush writes the step.
func (j *joining) flush() {
	if j.waiting == nil {
		return
	}
	for i := range j.waiting.work.changes {
		c := &j.waiting.work.changes[i]
		if c.old != j.written[c.key] {
			j.t.Fatalf("the step begins with %+v, the tables have %+v", c.old, j.written[c.key])
		}
		if c.created() != (j.written[c.key] == nil) || c.countedOf != c.now.ID {
			j.t.Fatalf("created %t, counted of %d: %+v", c.created(), c.countedOf, c.now)
		}
		if now, changed := j.waiting.record(c.key); !changed || now != c.now {
			j.t.Fatal("a changed record is not found")
		}
		j.written[c.key] = c.now
		countSums(j.got, c)
	}
	j.folded += j.waiting.events
	j.waiting = nil
}

// TestJoinedSteps: for any way to cut a log into batches and to join them, a step begins with the
// records before its first batch, ends with those behind its last one, and has the sums of
// all; no record is in it twice.
func TestJoinedSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &joining{
			t: t, batch: newBatch(rolledTo{}), records: map[recordKey]*errata.Record{}, written: map[recordKey]*errata.Record{},
			want: map[recordKey]*sums{}, got: map[recordKey]*sums{},
		}
		w := newWindow(maxWindowIDs, 0)
		for i, list := range drawLog(t) {
			j.batch.fold(w, uint64(i+1), decodedBlock(t, list), recording{})
			if rapid.Bool().Draw(t, "cut") {
				j.cut()
			}
			if rapid.Bool().Draw(t, "flush") {
				j.flush()
			}
		}
		j.cut()
		j.flush()
		if !maps.Equal(j.records, j.written) {
			t.Fatal("the last states differ")
		}
		if diff := cmp.Diff(j.want, j.got, cmp.AllowUnexported(recordKey{}, deployment{}, deploymentKey{}, hourCount{})); diff != "" || j.events != j.folded {
			t.Fatalf("%d events, %d in steps; sums (-batches +steps):\n%s", j.events, j.folded, diff)
		}
	})
}

// TestWhatIsNotWrittenIsRemembered: a record that the cache has forgotten is found in the steps
// that are not in the tables yet, and not in those that are.
func TestWhatIsNotWrittenIsRemembered(t *testing.T) {
	changed := func(counts map[byte]uint64) *step {
		var changes []change
		for n, count := range counts {
			changes = append(changes, change{key: recordKey{signature: errata.Signature{n}}, now: &errata.Record{Count: count}})
		}
		return (&step{work: &commit{changes: changes}}).indexed()
	}
	c := &committer{cache: newRemembered(1, "", nil), waiting: changed(map[byte]uint64{1: 30, 2: 20}), last: changed(map[byte]uint64{1: 10, 3: 5})}
	c.last.done = make(chan struct{})
	counts := func() (found [5]uint64) {
		for n := range found {
			if r := c.remembered(recordKey{signature: errata.Signature{byte(n)}}); r != nil {
				found[n] = r.Count
			}
		}
		return found
	}
	if got := counts(); got != [...]uint64{0, 30, 20, 5, 0} {
		t.Errorf("while a step is written: %v", got)
	}
	close(c.last.done)
	if got := counts(); got != [...]uint64{0, 30, 20, 0, 0} {
		t.Errorf("when it is written: %v", got)
	}
	if c.waiting = nil; counts() != [...]uint64{0, 0, 0, 0, 0} {
		t.Errorf("when all are: %v", counts())
	}
}
