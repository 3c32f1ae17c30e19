package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// positionHeader says how much of the log an answer has shown, and in a request how much
// the sender has seen.
const positionHeader = "X-Errata-Position"

// ownedPrefix begins the classes of problems that have an owner. Only the owner
// sends and changes them, one request after the other, so that it always knows
// what the record must be.
const ownedPrefix = "Owned"

const ownedProblems = 5

// owned is what a record must be.
type owned struct {
	class, signature  string
	count             int
	status            string
	regressed         bool
	firstSeen, latest time.Time
	firstID           string
}

// owner sends events of its problems, deletes them and changes their status. In a cluster it
// stays with the service that has its events, which may be in the spool of that one, until a
// command has been answered there: commands of another one may come before them.
type owner struct {
	*client
	adminKey string
	pause    time.Duration // between two changes
	problems []*owned
	deletes  int
	moves    int
	// position is that of the last answer, 0 when it told none. Whichever service is asked
	// next shows no less.
	position uint64
	// gone counts the deletes whose effect another service has shown at once, and back has
	// those that it has not.
	gone int
	back []string
}

func newOwner(c *client, adminKey string) *owner {
	o := &owner{client: c, adminKey: adminKey}
	for i := range ownedProblems {
		o.problems = append(o.problems, &owned{class: ownedPrefix + letters(1+i) + strings.ToUpper(c.name[:1])})
	}
	return o
}

// until repeats try until the service has answered with a success, or the test is
// given up.
func (o *owner) until(try func() bool) (ok bool) {
	for !try() {
		select {
		case <-o.abandon:
			return false
		default:
		}
		// reason: a pause between tries, as a real caller makes.
		time.Sleep(time.Duration(1+o.random.IntN(20)) * time.Millisecond)
	}
	return true
}

func (o *owner) run(ctx context.Context) {
	for ctx.Err() == nil {
		p := o.problems[o.random.IntN(len(o.problems))]
		var ok bool
		switch n := o.random.IntN(10); {
		case n < 6 || p.signature == "":
			ok = o.sight(p)
		case n < 8:
			ok = o.delete(p)
		default:
			ok = o.move(p)
		}
		if !ok {
			return
		}
		if o.pause > 0 {
			// reason: less load than the services can take.
			time.Sleep(o.pause)
		}
	}
}

// sight sends one event of the problem, sometimes twice.
func (o *owner) sight(p *owned) bool {
	o.n++
	e := sent{
		id: fmt.Sprintf("%s-owned-%d", o.name, o.n), class: p.class, user: 1,
		at: time.Now().Add(-time.Duration(o.random.Int64N(int64(time.Hour)))).UTC().Truncate(time.Millisecond),
	}
	if !o.until(func() bool { return o.native([]sent{e}) }) {
		return false
	}
	if p.count == 0 {
		p.firstSeen, p.latest, p.status, p.regressed, p.firstID = e.at, e.at, "open", false, e.id
	}
	p.count++
	if e.at.Before(p.firstSeen) {
		p.firstSeen = e.at
	}
	if e.at.After(p.latest) {
		p.latest = e.at
	}
	if p.status == "resolved" {
		p.status, p.regressed = "open", true
	}
	if o.random.IntN(6) == 0 {
		o.native([]sent{e}) // whether it arrives or not
	}
	if p.signature == "" {
		return o.until(func() bool { return o.find(p) })
	}
	return true
}

// find asks for the signature of the problem; there is none until the event is
// visible.
func (o *owner) find(p *owned) bool {
	var rows []struct {
		Signature string `json:"signature"`
		Class     string `json:"exception_class"`
	}
	if !o.admin(http.MethodGet, "?limit=100&exception_class="+url.QueryEscape(p.class), "", &rows) {
		return false
	}
	for _, r := range rows {
		if r.Class == p.class {
			p.signature = r.Signature
		}
	}
	return p.signature != ""
}

func (o *owner) delete(p *owned) bool {
	o.deletes++
	ok := o.until(func() bool { return o.admin(http.MethodDelete, "", `{"signatures":["`+p.signature+`"]}`, nil) })
	if ok {
		o.elsewhere(p, o.position)
	}
	*p = owned{class: p.class, signature: p.signature}
	return ok
}

// elsewhere asks another service for a problem that was deleted, at a position of the log.
// What was in a spool meanwhile comes behind that, and begins the record again.
func (o *owner) elsewhere(p *owned, deleted uint64) {
	if len(o.addrs) == 1 || deleted == 0 {
		return
	}
	o.turn()
	var rows []struct {
		ID    errata.Position
		Class string `json:"exception_class"`
	}
	if !o.admin(http.MethodGet, "?limit=100&exception_class="+url.QueryEscape(p.class), "", &rows) || o.position == 0 {
		return // it is the one that a fault has met, or of an older version
	}
	o.gone++
	for _, r := range rows {
		if r.Class == p.class && r.ID < errata.PositionOf(deleted, 0) {
			o.back = append(o.back, fmt.Sprintf("%s at %s, deleted at %d and shown up to %d", p.class, o.addrs[o.at], deleted, o.position))
		}
	}
}

func (o *owner) move(p *owned) bool {
	o.moves++
	status := []string{"open", "resolved", "muted"}[o.random.IntN(3)]
	ok := o.until(func() bool {
		return o.admin(http.MethodPost, "/status", `{"signatures":["`+p.signature+`"],"status":"`+status+`"}`, nil)
	})
	if p.count > 0 {
		p.status, p.regressed = status, false
	}
	return ok
}

// admin sends one request to the errors of the administration API and returns
// whether it succeeded.
func (o *owner) admin(method, path, body string, data any) bool {
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+o.addrs[o.at]+"/api/v1/admin/tools/logs/errors"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.adminKey)
	if o.position > 0 {
		req.Header.Set(positionHeader, strconv.FormatUint(o.position, 10))
	}
	resp, err := o.http.Do(req)
	if err != nil {
		o.next()
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		o.next()
		return false
	}
	o.position, _ = strconv.ParseUint(resp.Header.Get(positionHeader), 10, 64) // an older version tells none
	return data == nil || json.Unmarshal(text, &struct{ Data any }{data}) == nil
}

// nothing deletes a record that is not there, and so says whether the records have everything
// that was accepted before.
func (o *owner) nothing() bool {
	return o.admin(http.MethodDelete, "", `{"signatures":["`+strings.Repeat("0", 32)+`"]}`, nil)
}

// compareOwned checks the records of the owner's problems. Its last changes are
// visible when a command behind them has been answered.
func compareOwned(t *testing.T, s *service, o *owner) {
	t.Helper()
	if !o.nothing() {
		t.Fatal("a delete of nothing was refused")
	}
	t.Logf("%d deletes, %d of them looked for elsewhere at once, %d moves of status", o.deletes, o.gone, o.moves)
	for _, back := range o.back {
		t.Errorf("a deleted record is there: %s", back)
	}
	rows := map[string]listed{}
	for _, r := range list(t, s) {
		if strings.HasPrefix(r.Class, ownedPrefix) {
			rows[r.Class] = r
		}
	}
	for _, p := range o.problems {
		r, there := rows[p.class]
		if there != (p.count > 0) {
			t.Errorf("%s: there %v, want %d sightings", p.class, there, p.count)
		}
		if !there || p.count == 0 {
			continue
		}
		if r.Count != p.count || r.Status != p.status || r.Regressed != p.regressed || !r.FirstSeen.Equal(p.firstSeen) || !r.LastSeen.Equal(p.latest) {
			t.Errorf("%s: got %+v, want %+v", p.class, r, *p)
		}
		var detail struct {
			Data listed `json:"data"`
		}
		fetch(t, s, "/api/v1/admin/tools/logs/errors/"+r.Signature, &detail)
		if detail.Data.Payload.EventID != p.firstID {
			t.Errorf("%s: the payload is of %q, want that of the first sighting since the delete, %q", p.class, detail.Data.Payload.EventID, p.firstID)
		}
	}
}

// compareReplay makes the records again from the log: they must be the same, byte
// for byte.
func compareReplay(t *testing.T, s *service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/api/v1/admin/ops/replay", http.NoBody)
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
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"swapped":true`) {
		t.Errorf("replay: %s %s (%v)", resp.Status, text, err)
	}
	t.Logf("replay: %s", text)
}

// newClient makes client number i.
func newClient(s *service, ref *referee, seed uint64, i int, abandon <-chan struct{}) *client {
	dsn := s.key("dsn")
	return &client{
		name: fmt.Sprintf("client%d", i), addrs: []string{s.addr}, limit: 10 * time.Second, idle: 20 * time.Millisecond, key: s.key("ingest.key"),
		dsnKey: strings.TrimPrefix(dsn[:strings.Index(dsn, "@")], "http://"), referee: ref,
		random: rand.New(rand.NewPCG(seed, uint64(i+1))), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}},
		abandon: abandon,
	}
}
