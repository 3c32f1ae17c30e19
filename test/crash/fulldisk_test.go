//go:build linux

package crash

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// fills is how often the disk is full in a run.
	fills = 4
	// fullLimit is how soon a service must notice a full disk, and roomLimit how
	// soon it must take events when there is room again. A busy machine gets
	// twice that.
	fullLimit = 60 * time.Second
	roomLimit = 20 * time.Second
	roomWant  = 10 * time.Second
)

// TestFullDiskHealsByItself prevents the service from writing files for a while,
// again and again, at random moments under load. JetStream stops at that and
// would stay stopped. When files can be written again, the service takes events
// within 10 s, and every accepted event counts once.
func TestFullDiskHealsByItself(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := newService(t)
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	ref := &referee{accepted: map[string][]sent{}}
	o, stop := load(t, s, ref, seed)
	healTimes(t, s, ref, random, func(full bool) {
		limit := uint64(unix.RLIM_INFINITY)
		if full {
			limit = 0 // no byte may be added to any file
		}
		if err := unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Fatal(err)
		}
	})
	stop()
	compare(t, s, ref)
	compareOwned(t, s, o)
	compareReplay(t, s)
}

// healTimes fills the disk and makes room again, and checks what the service
// reports and how soon it takes events.
func healTimes(t *testing.T, s *service, ref *referee, random *rand.Rand, disk func(full bool)) {
	t.Helper()
	var worst time.Duration
	for range fills {
		await(t, "events are taken", fullLimit, func() bool { return taken(ref) })
		disk(true)
		await(t, "the alarm stands", fullLimit, func() bool { return strings.Contains(s.metrics(), `errata_alarm{name="log-stopped"} 1`) })
		// reason: the disk is full for a random time.
		time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		disk(false)
		took := await(t, "events are taken again", roomLimit, func() bool { return taken(ref) })
		worst = max(worst, took)
		await(t, "the alarm is over", roomLimit, func() bool {
			return !strings.Contains(s.metrics(), `errata_alarm{name="log-stopped"}`)
		})
	}
	t.Logf("%d times full; events taken again within %v at worst", fills, worst.Round(time.Millisecond))
	if worst > roomWant {
		t.Errorf("it took %v until events were taken, want %v at most", worst, roomWant)
	}
	if restarts := `errata_log_restarts_total`; !strings.Contains(s.metrics(), restarts) {
		t.Errorf("there is no metric %s", restarts)
	}
}

// taken waits for the next accepted events; false when none are accepted for a
// while.
func taken(ref *referee) bool {
	before := ref.total()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(200 * time.Millisecond); ; {
		select {
		case <-look.C:
			if ref.total() > before {
				return true
			}
		case <-late:
			return false
		}
	}
}

// await polls until the condition holds, and returns how long that took.
func await(t *testing.T, what string, limit time.Duration, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !is() {
		if time.Since(began) > limit {
			t.Fatalf("after %v it is not so that %s", limit, what)
		}
		<-look.C
	}
	return time.Since(began)
}

// metrics is the text of the service's metrics, "" while it does not answer.
func (s *service) metrics() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}
