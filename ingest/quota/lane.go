package quota

import (
	"context"
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
	// turnEvents is how many events one turn is for, about 2 ms of a processor. A
	// request with more takes further turns: six requests of 500 events would fill
	// two processors for 60 ms.
	turnEvents = 50
	// longestTurn is how long a request waits for its turn. It is the time that a
	// request waits for a log that does not answer.
	longestTurn = 5 * time.Second
)

// owner is whose requests a lane holds: a key or a project.
type owner struct {
	key     string
	project uint64
}

// lane holds the requests of one owner that are on their way to the log.
type lane struct {
	turns *semaphore.Weighted
	users int // requests that have a turn or wait for one; guarded by Quotas.mu
}

// Enter waits until a request with so many events may go to the log. The caller calls
// leave when its events are on the log or refused. Without a limit for keys Enter does
// not wait. An error has kind overloaded.
//
// A request first takes the turns of its key and then those of its project, so that a
// key with many requests has few of them in the line of its project.
func (q *Quotas) Enter(ctx context.Context, g access.Grant, events int) (leave func(), err error) {
	if q == nil || q.lanes == nil {
		return func() {}, nil
	}
	turns := int64(min(max(1, events/turnEvents), atOnce))
	patient, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	leaveKey, ok := q.turn(patient, owner{key: g.KeyID}, atOnce, turns)
	if !ok {
		return nil, noTurn(ctx, OfKey)
	}
	leaveProject, ok := q.turn(patient, owner{project: g.Project}, projectAtOnce, turns)
	if !ok {
		leaveKey()
		return nil, noTurn(ctx, OfProject)
	}
	return func() {
		leaveProject()
		leaveKey()
	}, nil
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
