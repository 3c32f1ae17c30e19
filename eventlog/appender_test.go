package eventlog

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bare is an appender without a lane, to which groups of one event are sent.
func bare(last int) *Appender {
	a := &Appender{last: last}
	a.ready = sync.NewCond(&a.mu)
	return a
}

func (a *Appender) send(t *testing.T, groups int) {
	t.Helper()
	for range groups {
		if err := a.enqueue([]*group{{}}); err != nil {
			t.Error(err)
		}
	}
}

// taken is how many groups a take got, and after how long.
type taken struct {
	groups int
	after  time.Duration
}

func (a *Appender) takes() taken {
	begin := time.Now()
	return taken{len(a.take()), time.Since(begin)}
}

// The lane waits for a moment when there are many senders, and not when there are few.
func TestTakeWaitsInACrowd(t *testing.T) {
	const arrive = patience / 2
	for name, c := range map[string]struct {
		last, queued, later int
		want                taken
	}{
		"few":                        {last: 8, queued: 8, later: 20, want: taken{8, 0}},
		"few, and nobody waits":      {last: 8, queued: 0, later: 1, want: taken{1, arrive}},
		"a crowd, of which some":     {last: 40, queued: 3, later: 5, want: taken{8, patience}},
		"a crowd, of which enough":   {last: 40, queued: 3, later: together - 3, want: taken{together, arrive}},
		"a crowd that waits already": {last: 10, queued: 40, later: 5, want: taken{40, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := bare(c.last)
				a.send(t, c.queued)
				time.AfterFunc(arrive, func() { a.send(t, c.later) })
				if got := a.takes(); got != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
				synctest.Wait()
			})
		})
	}
}

// A crowd is believed for some blocks after it is gone, and what comes late to its end
// takes nothing with it.
func TestTakeAfterACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := bare(100)
		waited := 0
		for range 200 {
			a.send(t, 1)
			switch got := a.takes(); got {
			case taken{1, patience}:
				waited++
			case taken{1, 0}:
			default:
				t.Fatalf("got %v", got)
			}
		}
		if waited == 0 || waited > 60 {
			t.Errorf("waited for %d blocks after a crowd of 100", waited)
		}
	})
}

// Closing does not wait for a crowd.
func TestTakeWhenClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := bare(100)
		a.send(t, 2)
		go func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.closed = true
			a.ready.Broadcast()
		}()
		if got := a.takes(); got != (taken{2, 0}) {
			t.Errorf("got %v, want both at once", got)
		}
		if got := a.takes(); got != (taken{}) {
			t.Errorf("got %v, want the end", got)
		}
	})
}

// The end of the wait may come at the same moment as enough groups. It is not the end of
// the next wait then, which would be that of the lane.
func TestTakeAfterTheLastMoment(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			a := bare(100)
			a.send(t, 1)
			time.AfterFunc(patience, func() { a.send(t, together) })
			if got := a.takes(); got.groups == 0 {
				t.Fatalf("got %v", got)
			}
			a.mu.Lock()
			a.queue, a.last, a.crowd = nil, 0, 0
			a.mu.Unlock()
			time.AfterFunc(2*patience, func() { a.send(t, 1) })
			if got := a.takes(); got.groups == 0 {
				t.Fatalf("the lane ended after %v", got.after)
			}
			synctest.Wait()
		})
	}
}
