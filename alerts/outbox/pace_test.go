package outbox_test

import (
	"testing"
	"time"
)

// TestASlowReceiverHoldsUpNoOther: while one receiver takes its time, messages go on to
// arrive at the others.
func TestASlowReceiverHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	release, arrived := make(chan struct{}), make(chan string, 100)
	w.taken = func(channel string) {
		if channel == "one" {
			<-release
		}
		arrived <- channel
	}
	o, kill := w.node()
	defer kill()
	o.Start()
	for range 3 { // messages, each a minute after the one before
		w.fire(20)
		for seen := map[string]bool{}; !seen["two"] || !seen["three"]; {
			select {
			case channel := <-arrived:
				seen[channel] = true
			case <-time.After(20 * time.Second):
				t.Fatalf("only %v got a message", seen)
			}
		}
		w.advance(time.Minute)
	}
	close(release)
	if err := o.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMessagesWaitForTheirRecords: a firing is written a moment before its record is, and a
// message that is made in between would say nothing of it.
func TestMessagesWaitForTheirRecords(t *testing.T) {
	w := newWorld(t)
	o, kill := w.node()
	defer kill()
	told := func() (fired uint64) {
		if err := o.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, d := range o.List() {
			if d.Channel == "two" { // both rules send to it
				fired += d.Fired
			}
		}
		w.advance(time.Minute)
		return fired
	}
	w.fire(9) // of three facts
	for _, step := range []struct{ unfolded, want uint64 }{{3, 0}, {2, 3}, {1, 6}, {1, 6}, {0, 9}} {
		if w.unfolded = step.unfolded; told() != step.want {
			t.Errorf("with %d facts not folded the messages tell of another number of firings than %d", step.unfolded, step.want)
		}
	}
}
