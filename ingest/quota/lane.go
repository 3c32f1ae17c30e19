package quota

import (
	"context"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

const (
	// atOnce is how many requests of one key are on their way to the log at the
	// same time. Further ones wait, so that requests of other keys find a short
	// queue. If the log takes 3 ms, a key has 2,600 requests a second, more than its
	// limit of events. With 16 the other keys waited twice as long, without a limit
	// for seconds.
	atOnce = 8
	// longestTurn is how long a request waits for its turn. It is the time that a
	// request waits for a log that does not answer.
	longestTurn = 5 * time.Second
)

// lane holds the requests of one key that are on their way to the log.
type lane struct {
	slots chan struct{}
	users int // requests that have a slot or wait for one; guarded by Quotas.mu
}

// Enter waits until a request may go to the log. The caller calls leave when its
// events are on the log or refused. Without a limit for keys Enter does not wait. An
// error has kind overloaded.
func (q *Quotas) Enter(ctx context.Context, g access.Grant) (leave func(), err error) {
	if q == nil || q.lanes == nil {
		return func() {}, nil
	}
	l := q.lane(g.KeyID)
	leave = func() {
		<-l.slots
		q.quit(g.KeyID, l)
	}
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	default:
	}
	timer := time.NewTimer(longestTurn)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	case <-timer.C:
		err = errata.Errorf(errata.KindOverloaded, "too many requests of this key are under way; send fewer at once, with more events in each")
	case <-ctx.Done():
		err = errata.Errorf(errata.KindOverloaded, "the request ended while it waited for its turn").Because(ctx.Err())
	}
	q.quit(g.KeyID, l)
	return nil, err
}

// lane gives the lane of the key. The caller must call quit.
func (q *Quotas) lane(key string) *lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[key]
	if l == nil {
		l = &lane{slots: make(chan struct{}, atOnce)}
		q.lanes[key] = l
	}
	l.users++
	return l
}

func (q *Quotas) quit(key string, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(q.lanes, key)
	}
}
