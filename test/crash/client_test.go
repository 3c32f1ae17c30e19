package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sent is one event, as its sender knows it.
type sent struct {
	id    string
	class string // the problem: every problem has a class of its own
	user  int64
	at    time.Time
}

// referee knows what every record must be.
type referee struct {
	mu       sync.Mutex
	accepted map[string][]sent // by class; each event once, at the time of its first 2xx

	answers, resends, repeats, failures atomic.Int64

	gaps gaps
}

// gaps are the longest times in which senders had to wait.
type gaps struct {
	mu     sync.Mutex
	last   time.Time     // of the last answer to anybody
	silent time.Duration // nobody was answered
	waited time.Duration // one sender without patience, from its first try
}

// impatient is after how long a sender turns to another service that waits for no answer of one
// that may be frozen.
const impatient = time.Second

// answered notes that a request was answered now, which was sent at first at the time by a
// sender that waits so long for an answer.
func (g *gaps) answered(first time.Time, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if !g.last.IsZero() {
		g.silent = max(g.silent, now.Sub(g.last))
	}
	if g.last = now; limit <= impatient {
		g.waited = max(g.waited, now.Sub(first))
	}
}

// take returns the longest times since the last call.
func (g *gaps) take() (silent, waited time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	silent, waited = g.silent, g.waited
	g.silent, g.waited = 0, 0
	return silent, waited
}

func (r *referee) accept(events []sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range events {
		r.accepted[e.class] = append(r.accepted[e.class], e)
	}
}

func (r *referee) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, events := range r.accepted {
		n += len(events)
	}
	return n
}

// client sends events until ctx ends, each until it is accepted.
type client struct {
	name    string
	addrs   []string      // of the services, of which any takes the events
	at      int           // the one of addrs that is asked
	stays   bool          // it turns to another one only when it means to
	limit   time.Duration // of one request
	idle    time.Duration // the longest pause between two requests
	key     string        // ingest key
	dsnKey  string        // Sentry public key
	referee *referee
	random  *rand.Rand
	http    *http.Client
	n       int
	// abandon is closed when the test is over, also when it failed and the
	// remaining events will not be accepted.
	abandon <-chan struct{}
}

// problems is how many problems the clients have together: few enough that they
// share records, and enough that new ones appear all the time.
const problems = 400

// event makes a new event of a random problem: a few problems are frequent.
func (c *client) event() sent {
	c.n++
	k := int(float64(problems) * c.random.Float64() * c.random.Float64())
	return sent{
		id:    fmt.Sprintf("%s-%d", c.name, c.n),
		class: "Problem" + letters(k),
		user:  c.random.Int64N(1 << 40),
		at:    time.Now().Add(-time.Duration(c.random.Int64N(int64(time.Hour)))).UTC().Truncate(time.Millisecond),
	}
}

// letters writes a number without digits, which the signature would replace.
func letters(k int) string {
	var b strings.Builder
	for ; k > 0; k /= 26 {
		b.WriteByte(byte('a' + k%26))
	}
	return b.String()
}

// run sends until ctx ends. A request without a 2xx is sent again with the same
// ids until it succeeds; one accepted request in eight is sent twice. The pauses
// leave time for kills: what is accepted is folded twice and compared.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		events := make([]sent, 1+c.random.IntN(10))
		for i := range events {
			events[i] = c.event()
		}
		send := c.native
		if c.random.IntN(4) == 0 {
			events, send = events[:1], c.sentry
		}
		if !c.untilTaken(send, events) {
			return
		}
		if c.random.IntN(8) == 0 && send(events) {
			c.referee.repeats.Add(int64(len(events)))
		}
		// reason: a pause between requests, as a real sender makes.
		time.Sleep(time.Duration(c.random.Int64N(int64(c.idle))))
	}
}

// untilTaken sends events until they are accepted, and tells the referee; false when the test
// is over.
func (c *client) untilTaken(send func([]sent) bool, events []sent) bool {
	for first := time.Now(); ; c.referee.resends.Add(1) {
		if send(events) {
			c.referee.gaps.answered(first, c.limit)
			c.referee.accept(events)
			return true
		}
		select {
		case <-c.abandon:
			return false
		default:
		}
		// The service may be dead, and a client gets no signal of its return.
		// reason: a pause between tries, as a real sender makes.
		time.Sleep(time.Duration(1+c.random.IntN(20)) * time.Millisecond)
	}
}

// next turns to the next service, as a sender does that was refused or not answered.
func (c *client) next() {
	if !c.stays {
		c.turn()
	}
}

func (c *client) turn() { c.at = (c.at + 1) % len(c.addrs) }

// native sends the events as NDJSON.
func (c *client) native(events []sent) bool {
	var body bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&body, `{"id":%q,"time":%q,"level":"error","message":"it broke","exception_class":%q,"file":"src/app.go","line":7,"user_id":%d}`+"\n",
			e.id, e.at.Format(time.RFC3339Nano), e.class, e.user)
	}
	var answer struct {
		Data struct {
			Accepted int `json:"accepted"`
		} `json:"data"`
	}
	return c.post("/api/v1/events", map[string]string{"Authorization": "Bearer " + c.key}, body.Bytes(), &answer) &&
		answer.Data.Accepted == len(events)
}

// sentry sends one event as an envelope; its id must be 32 hex digits.
func (c *client) sentry(events []sent) bool {
	e := &events[0]
	if len(e.id) != 32 {
		e.id = fmt.Sprintf("%08x%024x", fnv(c.name), c.n)
	}
	item := fmt.Sprintf(`{"event_id":%q,"timestamp":%q,"level":"error","platform":"go","user":{"id":"%d"},"exception":[{"type":%q,"value":"it broke","stacktrace":{"frames":[{"filename":"src/app.go","lineno":7,"in_app":true}]}}]}`,
		e.id, e.at.Format(time.RFC3339Nano), e.user, e.class)
	body := fmt.Sprintf("{\"event_id\":%q}\n{\"type\":\"event\",\"length\":%d}\n%s\n", e.id, len(item), item)
	var answer struct {
		ID string `json:"id"`
	}
	header := map[string]string{"X-Sentry-Auth": "Sentry sentry_version=7, sentry_key=" + c.dsnKey}
	return c.post("/api/1/envelope/", header, []byte(body), &answer) && answer.ID == e.id
}

func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// post sends a request, decodes the answer, and returns whether it was a 2xx.
func (c *client) post(path string, header map[string]string, body []byte, answer any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.addrs[c.at]+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.referee.failures.Add(1)
		c.next()
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 || json.Unmarshal(text, answer) != nil {
		c.referee.failures.Add(1)
		c.next()
		return false
	}
	c.referee.answers.Add(1)
	return true
}
