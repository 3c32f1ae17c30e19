package quota

import (
	"context"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

const (
	// atOnce is how many requests of one key are on their way to the log at the
	// same time; further ones of it wait their turn. A log that takes 3 ms takes
	// 2,600 requests a second of a key so, more than its limit of events, and
	// those of the others find a short queue before them however many connections
	// the key has. The limit of events alone is no help on a machine that is too
	// slow for it: with 16 the others waited twice as long, without any for
	// seconds.
	atOnce = 8
	// longestTurn is how long a request waits for its turn: as long as for a log
	// that does not answer.
	longestTurn = 5 * time.Second
)

// lane is the way to the log of one key's requests.
type lane struct {
	slots chan struct{}
	users int // in it or waiting; guarded by Quotas.mu
}

// Enter waits until it is the request's turn among those of its key. leave must
// be called when its events are on the log or refused. Without a limit for keys
// there is no turn to wait for. Kind: overloaded, when it does not come.
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
		err = errata.Errorf(errata.KindOverloaded, "the request ended before it was its turn").Because(ctx.Err())
	}
	q.quit(g.KeyID, l)
	return nil, err
}

// lane is the key's, which the caller must quit.
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
