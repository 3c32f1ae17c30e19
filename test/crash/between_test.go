package crash

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/failpoint"
)

// mendedRows is what the service says when its self-check has made rows again.
var mendedRows = regexp.MustCompile(`took the records back to before the damage|made the records again from the log`)

// TestKilledBetweenInsertsLeavesNothing kills the service at each of its first moments between
// two inserts, while each batch has one event: so one of the kills meets each insert of a
// batch. What such a kill leaves behind must be right by itself. The self-check would mend it,
// and hide it from who counts only.
func TestKilledBetweenInsertsLeavesNothing(t *testing.T) {
	s := newService(t)
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	abandon := make(chan struct{})
	defer close(abandon)
	ref := &referee{accepted: map[string][]sent{}}
	o := newOwner(newClient(s, ref, 1, 0, abandon), s.key("admin.key"))
	const moments = 6 // more than a batch has inserts behind its rollups
	for moment := 1; moment <= moments; moment++ {
		s.kill()
		_, ready := s.start(fmt.Sprintf("%s@%d", failpoint.Payloads, moment))
		event := o.one()
		for i := 0; ready && i < moments && o.native([]sent{event}) && o.awaitCount(ref.total()+1); i++ {
			ref.accept([]sent{event})
			event = o.one()
		}
		if !s.awaitDeath(failpointLimit) {
			t.Fatalf("the service did not reach moment %d", moment)
		}
		if _, ready := s.start(""); !ready {
			t.Fatal("the service died by itself")
		}
		o.until(func() bool { return o.native([]sent{event}) })
		ref.accept([]sent{event})
		if !o.awaitCount(ref.total()) {
			t.Errorf("after moment %d: not all of %d events are counted", moment, ref.total())
		}
	}
	compare(t, s, ref)
	log, err := os.ReadFile(s.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if mended := mendedRows.Find(log); mended != nil {
		t.Errorf("a kill left rows behind that had to be mended: %s", mended)
	}
}

// one makes an event of the same problem each time.
func (o *owner) one() sent {
	e := o.event()
	e.class = "Between"
	return e
}

// awaitCount waits until so many events are counted; false when the service has died, or
// does not count them in time.
func (o *owner) awaitCount(want int) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(visibleLimit); time.Now().Before(deadline); <-tick.C {
		var rows []struct{ Count int }
		if !o.admin(http.MethodGet, "?limit=100", "", &rows) {
			return false
		}
		sum := 0
		for _, r := range rows {
			sum += r.Count
		}
		if sum >= want {
			return true
		}
	}
	return false
}
