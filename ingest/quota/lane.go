package quota

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

const (
	// atOnce is how many turns a key has. A request with a turn is on its way to the
	// log. Further ones wait, so that requests of other keys find a short queue. A log
	// that takes 3 ms for a request still takes 2,000 a second from one key: as many
	// events as [DefaultKeyPerMinute] allows, when each request has one.
	atOnce = 6
	// projectAtOnce is how many turns all keys of a project have together: else a
	// project with many keys would have as many turns as it likes. One key leaves some
	// for the others. With 12 the slowest requests of another project took 2.1 times as
	// long as without a flood, with 8 they took 1.6.
	projectAtOnce = 8
	// turnEvents is how many events one turn is for, about 2 ms of a processor, and
	// turnBytes how many bytes of a body. A request with more takes further turns: six
	// requests of 500 events would fill two processors for 60 ms.
	turnEvents = 50
	turnBytes  = 32 << 10
	// longestTurn is how long a request waits for its turn. It is the time that a
	// request waits for a log that does not answer.
	longestTurn = 5 * time.Second
	// longestRest bounds the rest of a project after a large request, and sendsFor is
	// how long a project counts as one that sends.
	longestRest = 20 * time.Millisecond
	sendsFor    = 5 * time.Second
	// readAtOnce is how many large bodies of a key are read or wait for their turn at
	// once, and slowRead how long a body is read until it does not count any more: a
	// slow sender costs no processor time, and must not hold up the others of its key.
	readAtOnce = 2
	slowRead   = 100 * time.Millisecond
)

// owner is whose requests a lane holds: a key, a key's large bodies, or a project.
type owner struct {
	key     string
	reads   bool
	project uint64
}

// lane holds the requests of one owner that are on their way to the log.
type lane struct {
	turns *semaphore.Weighted
	users int // requests that have a turn or wait for one; guarded by Quotas.mu
}

// Turn is what a request has while it is on its way to the log. The zero Turn, which
// requests get where keys have no limit, lets any number of requests pass.
type Turn struct {
	quotas *Quotas
	leave  func() // nil: none is taken
	weight int64
	rests  bool // the project pauses afterwards
	began  time.Time
}

// Enter waits until a request with so many events may go to the log. The caller calls
// Leave when its events are on the log or refused. Without a limit for keys Enter does
// not wait. An error has kind overloaded.
func (q *Quotas) Enter(ctx context.Context, g access.Grant, events int) (Turn, error) {
	return q.enter(ctx, g, min(max(1, int64(events)/turnEvents), atOnce), false)
}

// InTurns says whether requests wait for turns: keys have a limit.
func (q *Quotas) InTurns() bool { return q != nil && q.lanes != nil }

// Read waits until a large body of the key may be read. The caller calls read when it was
// read, and leave when it has its turn or needs none. An error has kind overloaded.
func (q *Quotas) Read(ctx context.Context, g access.Grant) (read, leave func(), err error) {
	if !q.InTurns() {
		return func() {}, func() {}, nil
	}
	patient, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	leave, ok := q.turn(patient, owner{key: g.KeyID, reads: true}, readAtOnce, 1)
	if !ok {
		return nil, nil, noTurn(ctx, OfKey)
	}
	leave = sync.OnceFunc(leave)
	slow := time.AfterFunc(slowRead, leave)
	return func() { slow.Stop() }, leave, nil
}

// EnterLarge is Enter for a request whose body, of so many bytes, is not parsed yet. While
// other projects send, it takes all turns of its key, and those are free again only
// after a rest: else a project that sends all it can would keep the processors busy.
func (q *Quotas) EnterLarge(ctx context.Context, g access.Grant, size int64) (Turn, error) {
	if !q.InTurns() {
		return Turn{}, nil
	}
	if q.others(g.Project) {
		return q.enter(ctx, g, atOnce, true)
	}
	return q.enter(ctx, g, min(max(1, size/turnBytes), atOnce), false)
}

// enter takes so many turns.
//
// A request first takes the turns of its key and then those of its project, so that a
// key with many requests has few of them in the line of its project.
func (q *Quotas) enter(ctx context.Context, g access.Grant, turns int64, rests bool) (Turn, error) {
	if !q.InTurns() {
		return Turn{}, nil
	}
	q.sends(g.Project)
	patient, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	leaveKey, ok := q.turn(patient, owner{key: g.KeyID}, atOnce, turns)
	if !ok {
		return Turn{}, noTurn(ctx, OfKey)
	}
	leaveProject, ok := q.turn(patient, owner{project: g.Project}, projectAtOnce, turns)
	if !ok {
		leaveKey()
		return Turn{}, noTurn(ctx, OfProject)
	}
	leave := func() {
		leaveProject()
		leaveKey()
	}
	return Turn{quotas: q, leave: leave, weight: turns, rests: rests, began: q.now()}, nil
}

// Covers says whether the turn is enough for so many events.
func (t *Turn) Covers(events int) bool {
	return t.leave == nil || t.weight >= min(int64(events)/turnEvents, atOnce)
}

// Leave gives the turn back. Where other projects send, the next large request of the
// project begins only after as long a time as this one took, at most longestRest. A second
// Leave does nothing.
func (t *Turn) Leave() {
	if t.leave == nil {
		return
	}
	if took := t.quotas.now().Sub(t.began); t.rests && took > 0 {
		time.AfterFunc(min(took, longestRest), t.leave)
	} else {
		t.leave()
	}
	t.leave = nil
}

// Refused gives the turn of a request back that was refused unparsed.
func (t *Turn) Refused() {
	t.rests = false
	t.Leave()
}

// noTurn is the error for a request that waited for its turn to the end of ctx or for
// too long.
func noTurn(ctx context.Context, of Scope) error {
	if ctx.Err() != nil {
		return errata.Errorf(errata.KindOverloaded, "the request ended while it waited for its turn").Because(ctx.Err())
	}
	return errata.Errorf(errata.KindOverloaded, "too many requests of this %s are under way; send fewer at once, with more events in each", string(of))
}

// turn waits until so many turns of the owner are free, and takes them. all is how many the
// owner has. ok is false when ctx ends first.
func (q *Quotas) turn(ctx context.Context, of owner, all, turns int64) (leave func(), ok bool) {
	l := q.lane(of, all)
	if l.turns.Acquire(ctx, turns) != nil {
		q.quit(of, l)
		return nil, false
	}
	return func() {
		l.turns.Release(turns)
		q.quit(of, l)
	}, true
}

// lane gives the lane of the owner. The caller must call quit.
func (q *Quotas) lane(of owner, all int64) *lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[of]
	if l == nil {
		l = &lane{turns: semaphore.NewWeighted(all)}
		q.lanes[of] = l
	}
	l.users++
	return l
}

func (q *Quotas) quit(of owner, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lanes, of)
	}
}

// sender is when a project sent last.
type sender struct {
	project uint64
	at      time.Time
}

// sends notes that the project sends. Two of them are enough to tell any project
// whether another one sends.
func (q *Quotas) sends(project uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.latest.project != project {
		q.before = q.latest
	}
	q.latest = sender{project, q.now()}
}

// others says whether a project other than this one sends.
func (q *Quotas) others(project uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	last := q.latest
	if last.project == project {
		last = q.before
	}
	return !last.at.IsZero() && q.now().Sub(last.at) < sendsFor
}
