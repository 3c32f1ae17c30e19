package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/test/product"
	"github.com/errata-log/errata/test/testenv"
)

const (
	// leafBatches of leafEvents each are sent while the hub is away: far more than a
	// process holds in memory. The process is killed in between.
	leafBatches = 600
	leafEvents  = 20
)

// pair is a hub and an ingest node, as processes that can be killed.
type pair struct {
	t                 *testing.T
	hubData, leafData string
	listen            string // of the hub for nodes
	hub, leaf         *service
	ingest, admin     string // keys
}

func newPair(t *testing.T) *pair {
	t.Helper()
	addr, err := product.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t: t, hubData: filepath.Join(t.TempDir(), "hub"), leafData: filepath.Join(t.TempDir(), "leaf"), listen: addr}
}

func (p *pair) startHub() {
	p.t.Helper()
	testenv.Seed(p.t, p.hubData)
	p.hub = serveProcess(p.t, p.hubData, "ERRATA_NATS_LEAF_LISTEN="+p.listen)
	p.ingest, p.admin = p.file("keys/ingest.key"), p.file("keys/admin.key")
}

func (p *pair) startLeaf() {
	p.t.Helper()
	p.leaf = serveProcess(p.t, p.leafData, "ERRATA_NATS_LEAF="+p.file("keys/leaf.url"))
}

func (p *pair) file(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.hubData, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (p *pair) kill(s *service) {
	p.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = s.cmd.Wait() // "signal: killed"
}

// ask sends a request to one of the two.
func (p *pair) ask(method, url, key, body string) (status int, answer string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// send sends batch n to the node, which must take it.
func (p *pair) send(n int) {
	p.t.Helper()
	var lines strings.Builder
	for i := range leafEvents {
		fmt.Fprintf(&lines, `{"id":"%d-%d","message":"order failed","exception_class":"OrderError"}`+"\n", n, i)
	}
	if status, answer := p.ask("POST", p.leaf.url+"/api/v1/events", p.ingest, lines.String()); status != http.StatusAccepted {
		p.t.Fatalf("batch %d: %d %s", n, status, answer)
	}
}

func (p *pair) await(what string, done func() bool) {
	p.t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for late := time.After(readyTimeout); !done(); {
		select {
		case <-poll.C:
		case <-late:
			p.t.Fatalf("after %v it is not so that %s", readyTimeout, what)
		}
	}
}

func (p *pair) leafReady() bool {
	status, _ := p.ask("GET", p.leaf.url+"/readyz", "", "")
	return status == http.StatusOK
}

// counted is the count of the one record at the hub.
func (p *pair) counted() (count int) {
	p.t.Helper()
	status, answer := p.ask("GET", p.hub.url+"/api/v1/admin/tools/logs/errors", p.admin, "")
	var list struct{ Data []struct{ Count int } }
	if err := json.Unmarshal([]byte(answer), &list); err != nil || status != http.StatusOK {
		p.t.Fatalf("list: %d %s", status, answer)
	}
	for _, record := range list.Data {
		count += record.Count
	}
	return count
}

// archiveAndBack archives the project at the hub and takes it out again: the node hears of
// both.
func (p *pair) archiveAndBack() {
	p.t.Helper()
	for _, c := range []struct {
		body   string
		status int
	}{{`{"archived":1}`, http.StatusForbidden}, {`{"archived":0}`, http.StatusUnprocessableEntity}} {
		if status, answer := p.ask("PATCH", p.hub.url+"/api/v1/admin/projects/default", p.admin, c.body); status != http.StatusOK {
			p.t.Fatalf("%s: %d %s", c.body, status, answer)
		}
		p.await(fmt.Sprintf("the node answers %d after %s", c.status, c.body), func() bool {
			status, _ := p.ask("POST", p.leaf.url+"/api/v1/events", p.ingest, "{}") // no event: nothing is counted
			return status == c.status
		})
	}
}

// settingsReachTheNode changes at the hub what the node must know of the project while it
// takes events: for how long times are believed, and which events are dropped. Both come
// in one copy, so the first says that the node has the second. One event is counted.
func (p *pair) settingsReachTheNode() {
	p.t.Helper()
	patch := `{"retention_days":7,"noise":[{"field":"class","match":"Drop*","action":"drop"}]}`
	if status, answer := p.ask("PATCH", p.hub.url+"/api/v1/admin/projects/default", p.admin, patch); status != http.StatusOK {
		p.t.Fatalf("%s: %d %s", patch, status, answer)
	}
	const event = `{"id":%q,"message":"order failed","exception_class":%q,"time":%q}`
	old := time.Now().AddDate(0, 0, -8).UTC().Format(time.RFC3339)
	p.await("the node no longer believes what is older than the project's records", func() bool {
		status, answer := p.ask("POST", p.leaf.url+"/api/v1/events", p.ingest, fmt.Sprintf(event, "old", "OrderError", old))
		return status == http.StatusAccepted && strings.Contains(answer, `"reason":"too_old"`)
	})
	for i := range 3 {
		if status, answer := p.ask("POST", p.leaf.url+"/api/v1/events", p.ingest, fmt.Sprintf(event, fmt.Sprint("dropped", i), "DropMe", old)); status != http.StatusAccepted {
			p.t.Errorf("an event that a rule drops: %d %s", status, answer)
		}
	}
	if _, answer := p.ask("GET", p.leaf.url+"/metrics", "", ""); !strings.Contains(answer, `errata_refused_events_total{project="1",reason="noise_rule"} 3`) {
		p.t.Error("the node does not say that its rules dropped 3 events")
	}
	p.await("the hub has the old event", func() bool { return p.counted() > leafEvents })
}

// waiting is how many bytes of events the node has not passed on yet.
func (p *pair) waiting() int {
	p.t.Helper()
	_, answer := p.ask("GET", p.leaf.url+"/metrics", "", "")
	for line := range strings.Lines(answer) {
		if text, ok := strings.CutPrefix(line, "errata_log_bytes "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return int(n)
		}
	}
	p.t.Fatal("the node says nothing of what it has")
	return 0
}

// TestEventsWaitForTheHub: an ingest node takes events while its hub is away, and both
// are killed at bad moments. In the end each event is counted once.
//
// long: one outage from its beginning to its end.
func TestEventsWaitForTheHub(t *testing.T) {
	p := newPair(t)
	p.startHub()
	p.startLeaf()
	p.await("the node has the keys", p.leafReady)
	p.send(0)
	p.await("the hub has the first events", func() bool { return p.counted() == leafEvents })
	if status, answer := p.ask("GET", p.leaf.url+"/api/v1/admin/tools/logs/errors", p.admin, ""); status != http.StatusNotFound || !strings.Contains(answer, "at the hub") {
		t.Errorf("the node's list: %d %s", status, answer)
	}
	if status, _ := p.ask("POST", p.leaf.url+"/api/v1/events", "eik_nonsense", "{}"); status != http.StatusUnauthorized {
		t.Errorf("a bad key at the node: %d", status)
	}

	p.archiveAndBack()
	p.settingsReachTheNode()

	p.kill(p.hub)
	for n := 1; n < leafBatches; n++ {
		p.send(n)
		if n == leafBatches/2 {
			p.kill(p.leaf)
			p.startLeaf() // without its hub
			if !p.leafReady() {
				t.Error("the node is not ready without its hub")
			}
			p.send(n) // as a sender that got no answer
		}
	}
	full := p.waiting()
	p.startHub()
	p.await("the node sends", func() bool { return p.waiting() < full })
	p.kill(p.leaf)
	p.startLeaf()
	p.await("the node sends again, or is done", func() bool { return p.waiting() == 0 || p.counted() > leafEvents+1 })
	p.kill(p.hub)
	p.startHub()
	p.await("nothing waits", func() bool { return p.waiting() == 0 })
	const want = leafBatches*leafEvents + 1 // that of settingsReachTheNode
	p.await("the hub has all events", func() bool { return p.counted() >= want })
	p.send(leafBatches)
	p.await("the hub has what came last", func() bool { return p.counted() >= want+leafEvents })
	if got := p.counted(); got != want+leafEvents {
		t.Errorf("%d events were counted, want %d", got, want+leafEvents)
	}
	p.leaf.stop(t)
	p.hub.stop(t)
}
