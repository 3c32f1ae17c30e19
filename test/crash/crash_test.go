package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/failpoint"
)

const (
	// defaultKills is how many kills one run has, two of each way. ERRATA_CRASH_KILLS sets
	// another number.
	defaultKills = 18
	clients      = 6
	// visibleLimit is how long the projection may take to catch up at the end.
	visibleLimit = 60 * time.Second
	// failpointLimit is how long a failpoint may take to be reached; then the
	// process is killed where it is.
	failpointLimit = 5 * time.Second
)

// kill is one way to kill the service. The service runs after deal, or has died at a
// failpoint.
type kill struct {
	name string
	deal func(s *service, random *rand.Rand) (recovery time.Duration, ready bool)
}

// kills begin with that of the whole service: it ends a service that waits at a failpoint.
func kills() []kill {
	all := []kill{
		{"service", func(s *service, _ *rand.Rand) (time.Duration, bool) {
			s.end()
			return s.start("")
		}},
		{"clickhouse", func(s *service, _ *rand.Rand) (time.Duration, bool) {
			begin := time.Now()
			if err := s.killClickHouse(); err != nil {
				s.t.Fatal(err)
			}
			ready := s.awaitReady(s.exited, begin.Add(readyLimit))
			return time.Since(begin), ready
		}},
	}
	for _, point := range failpoint.Points {
		all = append(all, kill{point, func(s *service, random *rand.Rand) (time.Duration, bool) {
			s.end()
			return s.start(fmt.Sprintf("%s@%d", point, 1+random.IntN(12)))
		}})
	}
	return all
}

// killsOf is how many kills a test has: ERRATA_CRASH_KILLS, or its own number.
func killsOf(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("ERRATA_CRASH_KILLS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestKilledAnywhereCountsExactly kills the service under load and compares.
func TestKilledAnywhereCountsExactly(t *testing.T) {
	t.Parallel()
	n := killsOf(t, defaultKills)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s := newService(t)
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	ref := &referee{accepted: map[string][]sent{}}
	o, stop := load(t, s, ref, seed)
	// Without rules nothing fires. TestKilledAnywhereTellsEachCause kills at that moment.
	ways := slices.DeleteFunc(kills(), func(k kill) bool { return k.name == failpoint.Fired })
	var recoveries []time.Duration
	for i := range n {
		way := ways[i%len(ways)]
		// reason: the load continues for a random time between two kills.
		time.Sleep(time.Duration(50+random.IntN(400)) * time.Millisecond)
		if recovery, ready := way.deal(s, random); ready {
			recoveries = append(recoveries, recovery)
		}
	}
	s.recover()
	stop()
	slices.Sort(recoveries)
	t.Logf("%d kills; events accepted %d, requests answered %d, failed %d, resent %d, events sent twice %d; recovery median %v, worst %v",
		n, ref.total(), ref.answers.Load(), ref.failures.Load(), ref.resends.Load(), ref.repeats.Load(),
		recoveries[len(recoveries)/2], recoveries[len(recoveries)-1])
	compare(t, s, ref)
	compareOwned(t, s, o)
	compareReplay(t, s)
	compareOwned(t, s, o)
}

// load runs the clients and an owner; stop ends them when all their events are
// accepted.
func load(t *testing.T, s *service, ref *referee, seed uint64) (o *owner, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	abandon := make(chan struct{})
	var done sync.WaitGroup
	for i := range clients {
		c := newClient(s, ref, seed, i, abandon)
		done.Go(func() { c.run(ctx) })
	}
	o = newOwner(newClient(s, ref, seed, clients, abandon), s.key("admin.key"))
	done.Go(func() { o.run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	t.Cleanup(func() { close(abandon); stop() })
	return o, stop
}

// listed is a record of the API with the fields that are compared.
type listed struct {
	Signature string    `json:"signature"`
	Class     string    `json:"exception_class"`
	Count     int       `json:"count"`
	UserID    int64     `json:"user_id"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	File      string    `json:"file"`
	Line      int       `json:"line"`
	Status    string    `json:"status"`
	Regressed bool      `json:"regressed"`
	Payload   struct {
		EventID string `json:"event_id"`
	} `json:"payload"`
}

// compare waits until everything accepted is visible, and compares each record
// with what the clients know.
func compare(t *testing.T, s *service, ref *referee) {
	t.Helper()
	records := slices.DeleteFunc(awaitTotal(t, s, ref.total()), isOwned)
	sum := 0
	for _, r := range records {
		sum += r.Count
	}
	if want := ref.total(); sum != want {
		t.Errorf("sum of counts is %d, accepted were %d: error %+d", sum, want, sum-want)
	}
	if len(records) != len(ref.accepted) {
		t.Errorf("%d records, want %d", len(records), len(ref.accepted))
	}
	for _, r := range records {
		checkRecord(t, s, r, ref.accepted[r.Class])
	}
}

// awaitTotal lists all records until the sum of their counts reaches want.
func awaitTotal(t *testing.T, s *service, want int) []listed {
	t.Helper()
	deadline := time.Now().Add(visibleLimit)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		records := list(t, s)
		sum := 0
		for _, r := range records {
			if !isOwned(r) {
				sum += r.Count
			}
		}
		if sum >= want || time.Now().After(deadline) {
			return records
		}
		<-tick.C
	}
}

func isOwned(r listed) bool { return strings.HasPrefix(r.Class, ownedPrefix) }

// list reads all records in an order that new events do not change. In the order
// of the last event a record could move to the next page and be listed twice.
func list(t *testing.T, s *service) (all []listed) {
	t.Helper()
	for page := 1; page != 0; {
		var answer struct {
			Data []listed `json:"data"`
			Meta struct {
				NextPage int `json:"next_page"`
			} `json:"meta"`
		}
		fetch(t, s, fmt.Sprintf("/api/v1/admin/tools/logs/errors?limit=100&order=id&direction=asc&page=%d", page), &answer)
		all = append(all, answer.Data...)
		page = answer.Meta.NextPage
	}
	return all
}

func fetch(t *testing.T, s *service, path string, answer any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key("admin.key"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s", path, resp.Status, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, text)
	}
}

// checkRecord compares one record and its payload with the events of its problem.
func checkRecord(t *testing.T, s *service, r listed, events []sent) {
	t.Helper()
	if len(events) == 0 {
		t.Errorf("record of class %q that nobody sent", r.Class)
		return
	}
	first, last := events[0].at, events[0].at
	for _, e := range events {
		if e.at.Before(first) {
			first = e.at
		}
		if e.at.After(last) {
			last = e.at
		}
	}
	if r.Count != len(events) || !r.FirstSeen.Equal(first) || !r.LastSeen.Equal(last) || r.File != "src/app.go" || r.Line != 7 {
		t.Errorf("%s: got count %d, first %v, last %v, %s:%d; want %d, %v, %v, src/app.go:7",
			r.Class, r.Count, r.FirstSeen, r.LastSeen, r.File, r.Line, len(events), first, last)
	}
	var detail struct {
		Data listed `json:"data"`
	}
	fetch(t, s, "/api/v1/admin/tools/logs/errors/"+r.Signature, &detail)
	i := slices.IndexFunc(events, func(e sent) bool { return e.id == detail.Data.Payload.EventID })
	if i < 0 {
		t.Errorf("%s: the payload is of event %q, which no client was told is accepted", r.Class, detail.Data.Payload.EventID)
		return
	}
	// The context of the record and its payload must be of the same event.
	if events[i].user != r.UserID {
		t.Errorf("%s: the record's user %d is not that of its payload's event, %d", r.Class, r.UserID, events[i].user)
	}
}
