//go:build clients

package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The dimensions of the plan.
var (
	planProjects     = []string{"shop", "billing", "mobile"}
	planEnvironments = []string{"production", "staging", "testing", "canary"}
	planReleases     = []string{"1.0.0", "1.1.0", "1.1.1", "2.0.0-rc.1", "2.0.0"}
	planBooks        = []string{"system", "database"}
	// planLevels are those that all clients know, the lowest first.
	planLevels = []string{"debug", "info", "warning", "error", "fatal"}
)

// planPhases is the number of phases. All senders pause between two of them.
const planPhases = 5

// A client of the plan is one that sends events.
type planClient int

const (
	byNative planClient = iota
	bySentryGo
	bySentryNode
	bySentryPython
	bySentryBrowser
	byOTelPython
	planClients // how many there are
)

// planShares is how many of 206,000 events each client sends. Of more events the others
// send no more, and the native client all the rest.
var planShares = [planClients]int{150_000, 35_000, 6000, 6000, 1000, 8000}

// plan decides what is sent. Every event is a function of the plan, its client
// and its number, so that the senders and the model need to tell each other
// nothing.
type plan struct {
	seed uint64
	// base is the time of the latest event.
	base time.Time
	// shares is how many events each client sends in a phase.
	shares [planClients]int
}

func newPlan(seed uint64, base time.Time, events int) plan {
	p := plan{seed: seed, base: base.UTC().Truncate(time.Millisecond)}
	rest := max(0, events-planEvents)
	for c, share := range planShares {
		p.shares[c] = max(1, share*(events-rest)/planEvents/planPhases)
	}
	p.shares[byNative] += rest / planPhases
	return p
}

// planned is an event of the plan. Its names in JSON are for the applications in
// testdata.
type planned struct {
	ID          string `json:"id"` // 32 hex digits; SDKs make their own
	Project     int    `json:"project"`
	Class       string `json:"class"`
	Message     string `json:"message"`
	Book        string `json:"book"`
	Level       string `json:"level"`
	Environment string `json:"environment"`
	Release     string `json:"release"`
	Millis      int64  `json:"millis"` // its time, in milliseconds since 1970
}

// key is the problem of the event.
func (e *planned) key() problemKey { return problemKey{e.Project, e.Class} }

func (e *planned) time() time.Time { return time.UnixMilli(e.Millis).UTC() }

// problemKey names a problem: applications throw the same classes.
type problemKey struct {
	project int
	class   string
}

// message is the message of every event of the problem. It stands in the list, so
// that a record can be recognised.
func (k problemKey) message() string { return k.class + " of " + planProjects[k.project] }

// Some problems are thrown by all clients that can send a fingerprint; the others
// are recorded with spans, or logged.
const (
	sharedProblems = 300
	spanProblems   = 40
	logProblems    = 40
)

// problem is what the events of a problem have in common.
type problem struct {
	problemKey
	book         string
	levels       []string // the first is the usual one
	environments []string
	releases     []string
	age          time.Duration // of its latest events
	phases       []int         // in which it occurs
}

// problemAge is how old the latest events of a problem can be.
const problemAge = 6 * 24 * time.Hour

// problem is problem number k of a kind.
func (p plan) problem(project int, kind string, k int) problem {
	random := rand.New(rand.NewPCG(p.seed^uint64(project)<<32^uint64(k), uint64(len(kind))<<8^uint64(kind[0])))
	x := problem{
		problemKey: problemKey{project, kind + letters(k)}, book: planBooks[0],
		environments: some(random, planEnvironments), releases: some(random, planReleases),
		age: time.Duration(random.Int64N(int64(problemAge))), levels: some(random, planLevels),
	}
	if random.IntN(5) == 0 {
		x.book = planBooks[1]
	}
	if random.IntN(3) == 0 {
		x.age = time.Duration(random.Int64N(int64(8 * time.Hour)))
	}
	if kind == "Span" {
		x.levels = []string{"error"} // exceptions of spans have no level
	}
	for phase := range planPhases {
		if random.IntN(4) > 0 {
			x.phases = append(x.phases, phase)
		}
	}
	if len(x.phases) == 0 {
		x.phases = []int{random.IntN(planPhases)}
	}
	return x
}

// some are at least one of the list, in any order.
func some(random *rand.Rand, list []string) []string {
	kept := slices.Clone(list)
	random.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	return kept[:1+random.IntN(len(kept))]
}

// letters writes a number without digits, which a signature leaves out.
func letters(k int) string {
	text := string(rune('A' + k%26))
	for k /= 26; k > 0; k /= 26 {
		text += string(rune('a' + k%26))
	}
	return text
}

// kind is the kind and the number of the problem of an event. A few problems are
// frequent, most are rare.
func (c planClient) kind(random *rand.Rand) (kind string, k int) {
	kind, of := "Problem", sharedProblems
	if c == byOTelPython {
		kind, of = "Span", spanProblems
		if random.IntN(2) == 0 {
			kind, of = "Logged", logProblems
		}
	}
	return kind, int(float64(of) * random.Float64() * random.Float64())
}

// event is event n of a client in a phase.
func (p plan) event(c planClient, phase, n int) planned {
	random := rand.New(rand.NewPCG(p.seed^uint64(c)<<48^uint64(phase)<<40, uint64(n)))
	var x problem
	for {
		project := random.IntN(len(planProjects))
		kind, k := c.kind(random)
		if x = p.problem(project, kind, k); slices.Contains(x.phases, phase) {
			break
		}
	}
	level := x.levels[0]
	if random.IntN(50) == 0 {
		level = x.levels[random.IntN(len(x.levels))]
	}
	return planned{
		ID: fmt.Sprintf("c1%02x%02x%026x", int(c), phase, n), Project: x.project, Class: x.class, Message: x.message(),
		Book: x.book, Level: level,
		Environment: x.environments[random.IntN(len(x.environments))], Release: x.releases[random.IntN(len(x.releases))],
		Millis: p.base.Add(-x.age - time.Duration(random.Int64N(int64(12*time.Hour)))).UnixMilli(),
	}
}

// events are all events of a client in a phase.
func (p plan) events(c planClient, phase int) []planned {
	events := make([]planned, p.shares[c])
	for n := range events {
		events[n] = p.event(c, phase, n)
	}
	return events
}

// file writes events for an application: one JSON object a line.
func (p plan) file(t *testing.T, c planClient, phase int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text := bufio.NewWriter(file)
	lines := json.NewEncoder(text)
	for _, e := range p.events(c, phase) {
		if err := lines.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := text.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}
