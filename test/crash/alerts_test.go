package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/engine"
)

// listener receives the messages of three channels. It refuses some of them, and takes some
// and says that it did not.
type listener struct {
	server *httptest.Server
	mu     sync.Mutex
	random *rand.Rand
	// fired is what the taken messages are of, by channel, rule and id.
	fired map[string]map[string]map[string]uint64
	again int // how many messages came that were there already
}

func newListener(t *testing.T, random *rand.Rand) *listener {
	t.Helper()
	l := &listener{random: random, fired: map[string]map[string]map[string]uint64{}}
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the service died while it sent
		}
		if !l.take(t, strings.TrimPrefix(r.URL.Path, "/"), r.Header.Get("webhook-id"), body) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(l.server.Close)
	return l
}

// take notes a message, and returns what to say about it.
func (l *listener) take(t *testing.T, channel, id string, body []byte) bool {
	var event struct {
		Data struct {
			Rule  struct{ Name string }
			Fired uint64
		}
	}
	if err := json.Unmarshal(body, &event); err != nil || id == "" || event.Data.Fired == 0 {
		t.Errorf("message %q to %s: %v in %s", id, channel, err, body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := l.random.IntN(8)
	if answer == 0 {
		return false // not taken
	}
	rules := l.fired[channel]
	if rules == nil {
		rules = map[string]map[string]uint64{}
		l.fired[channel] = rules
	}
	if rules[event.Data.Rule.Name] == nil {
		rules[event.Data.Rule.Name] = map[string]uint64{}
	}
	if before, there := rules[event.Data.Rule.Name][id]; there {
		if l.again++; before != event.Data.Fired {
			t.Errorf("message %s to %s was of %d firings, and is of %d", id, channel, before, event.Data.Fired)
		}
	}
	rules[event.Data.Rule.Name][id] = event.Data.Fired
	return answer > 1 // taken, and perhaps not said so
}

// total is of how many firings of a rule a channel has heard.
func (l *listener) total(channel, rule string) (n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, fired := range l.fired[channel][rule] {
		n += fired
	}
	return n
}

// TestKilledAnywhereTellsEachCause kills the service while problems fire two rules with
// three channels: each channel hears of each of them in one message, which may come again.
func TestKilledAnywhereTellsEachCause(t *testing.T) {
	t.Parallel() // it waits for a minute, in which rules send no second message
	n := killsOf(t, 12)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	l := newListener(t, rand.New(rand.NewPCG(seed, 2)))
	s := newService(t)
	s.env = []string{"ERRATA_ALERT_ALLOW_HOSTS=" + strings.TrimPrefix(l.server.URL, "http://")}
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	channels := map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		channels[name] = s.create(t, "channels", fmt.Sprintf(`{"name":%q,"kind":"webhook","url":"%s/%s"}`, name, l.server.URL, name))
	}
	s.create(t, "rules", fmt.Sprintf(`{"name":"new","when":{"new":true},"to":[%q,%q]}`, channels["one"], channels["two"]))
	s.create(t, "rules", fmt.Sprintf(`{"name":"third","when":{"reached":{"count":3}},"to":[%q,%q]}`, channels["two"], channels["three"]))

	// These two fire nothing: a project has no spike in its first day. What they count is looked
	// at in the end.
	s.create(t, "rules", fmt.Sprintf(`{"name":"spike","when":{"spike":{"factor":2,"minutes":5}},"to":[%q]}`, channels["one"]))
	s.create(t, "rules", fmt.Sprintf(`{"name":"quiet","when":{"quiet":{"minutes":10080}},"to":[%q]}`, channels["one"]))

	ctx, stop := context.WithCancel(t.Context())
	abandon := make(chan struct{})
	defer close(abandon)
	sender := newClient(s, &referee{accepted: map[string][]sent{}}, seed, 0, abandon)
	sent := make(chan int, 1)
	go func() { sent <- sender.flood(ctx, 10_000) }()
	for i := range n {
		// reason: the load continues for a random time between two kills.
		time.Sleep(time.Duration(100+random.IntN(300)) * time.Millisecond)
		kills()[i%len(kills())].deal(s, random)
	}
	s.recover()
	stop()
	problems := uint64(<-sent)
	l.await(t, problems, heard{"one", "new"}, heard{"two", "new"}, heard{"two", "third"}, heard{"three", "third"})
	s.awaitActivity(t, 3*problems)
	s.kill()
	t.Logf("%d kills, %d problems; %d messages came again", n, problems, l.again)
}

// awaitActivity waits until both rules about projects have counted each event, and checks
// that they have counted it once.
func (s *service) awaitActivity(t *testing.T, events uint64) {
	t.Helper()
	dsn, err := os.ReadFile(filepath.Join(s.data, "run", "clickhouse.dsn"))
	if err != nil {
		t.Fatal(err)
	}
	ch, err := engine.StartClickHouse(t.Context(), engine.ClickHouseConfig{
		DSN: strings.TrimSpace(string(dsn)), Database: "errata_store", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ch.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	for _, book := range []string{"spike", "quiet"} {
		var counted, countings uint64
		deadline := time.Now().Add(time.Minute)
		for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
			row := ch.Conn().QueryRow(t.Context(), "SELECT sum(count), uniqExact(counting) FROM activity WHERE book = ?", book)
			if err := row.Scan(&counted, &countings); err != nil {
				t.Fatal(err)
			}
			if counted >= events || time.Now().After(deadline) {
				break
			}
		}
		if counted != events || countings != 1 {
			t.Errorf("%s has counted %d events of %d under %d names", book, counted, events, countings)
		}
	}
}

// flood sends new problems, three events of each, until ctx ends and there are so many; it
// returns how many there are.
func (c *client) flood(ctx context.Context, least int) (problems int) {
	const together = 20
	for ctx.Err() == nil || problems < least {
		var events []sent
		for i := range together {
			for k := range 3 {
				events = append(events, sent{id: fmt.Sprintf("flood-%d-%d", problems+i, k), class: "Flood" + letters(problems+i+1), at: time.Now().UTC()})
			}
		}
		for !c.native(events) {
			select {
			case <-c.abandon:
				return problems
			default:
			}
			// reason: a pause between tries, as a real sender makes.
			time.Sleep(10 * time.Millisecond)
		}
		problems += together
		// reason: the problems are to come during all kills, and not as many as possible.
		time.Sleep(20 * time.Millisecond)
	}
	return problems
}

// heard is what a channel hears of a rule.
type heard struct{ channel, rule string }

// await waits until the channels have heard of all problems: a rule sends a message in a
// minute, and a receiver that refuses is asked again.
func (l *listener) await(t *testing.T, problems uint64, want ...heard) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
		missing := ""
		for _, w := range want {
			if got := l.total(w.channel, w.rule); got != problems {
				missing += fmt.Sprintf("%s has heard of %d of %d firings of %s; ", w.channel, got, problems, w.rule)
			}
			if l.total(w.channel, w.rule) > problems {
				t.Fatal(missing)
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
	}
}

// create makes a rule or a channel and returns its id.
func (s *service) create(t *testing.T, what, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addr+"/api/v1/admin/alerts/"+what, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key("admin.key"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Data struct{ ID string } }
	text, err := io.ReadAll(resp.Body)
	if err != nil || json.Unmarshal(text, &answer) != nil || answer.Data.ID == "" {
		t.Fatalf("make one of %s: %d %s (%v)", what, resp.StatusCode, text, err)
	}
	return answer.Data.ID
}
