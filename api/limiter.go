package api

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// limiter gives every holder a budget of requests a minute. The whole budget
// may be spent at once; it comes back evenly.
type limiter[K comparable] struct {
	perMinute int
	now       func() time.Time

	mu      sync.Mutex
	holders *lru.LRU[K, *rate.Limiter]
}

// maxHolders bounds the memory that callers can make a limiter take: about 2
// MB. A holder that is forgotten begins with a full budget.
const maxHolders = 10_000

// newLimiter makes a limiter; 0 a minute means no limit.
func newLimiter[K comparable](perMinute int, now func() time.Time) *limiter[K] {
	holders, err := lru.NewLRU[K, *rate.Limiter](maxHolders, nil)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &limiter[K]{perMinute: perMinute, now: now, holders: holders}
}

// take spends one request of the holder's budget. When the budget is used up,
// ok is false and wait is the time until the next request.
func (l *limiter[K]) take(holder K) (wait time.Duration, ok bool) {
	if l.perMinute == 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	budget, known := l.holders.Get(holder)
	if !known {
		budget = rate.NewLimiter(rate.Limit(float64(l.perMinute)/time.Minute.Seconds()), l.perMinute)
		l.holders.Add(holder, budget)
	}
	now := l.now()
	reserved := budget.ReserveN(now, 1)
	wait = reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
		return wait, false
	}
	return 0, true
}
