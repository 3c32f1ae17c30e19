package door

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// DefaultBudget bounds the memory of the requests in flight when nothing else
	// is configured: it leaves the service within 1 GiB with its engines, and holds
	// some thousand ordinary events at once.
	DefaultBudget = 128 << 20

	// maxWait is how long a request waits for a part of the budget. Most SDKs
	// lose an event that is refused, so a short wait saves errors in a burst.
	maxWait = 2 * time.Second
	// maxWaiting bounds the requests of one key that wait. More would not get
	// their turn in time.
	maxWaiting = 1024

	// maxPlaces bounds the requests of one key that are read and stored at once.
	// At 20 ms for each, a slow disk, that is 12,800 requests a second; and who
	// comes with another key finds at most so many before its own.
	maxPlaces = 256
	// keyShare is how many times what is left one key may hold: alone two thirds
	// of the budget, two keys two fifths each. An address holds, within its key,
	// at most what is left, and at most as many places as are left. So there is
	// always something left, however many send and however much.
	keyShare = 2
	// strangerShare is the part of the budget for all requests whose key is not
	// known yet: places for maxPlaces of them. They know their key after one line
	// of the body, within milliseconds, so that even a proxy or an office whose
	// thousands of senders have one address does not fill its half of it.
	strangerShare = 8
)

// Sender is who a request is charged to.
type Sender struct {
	// Key is the id of its API key, "" for as long as none is known.
	Key string
	// Addr is what one person can hold of the addresses. The zero Prefix stands
	// for all that nobody knows.
	Addr netip.Prefix
}

// Budget bounds the bytes that all requests in flight hold together, so that a
// flood is answered with 503 before the process runs out of memory, and gives
// each key and each address no more than a share of it, so that a flood of one
// is no flood for others. Those who must wait are served in turns by key. A nil
// *Budget bounds nothing. It is safe for concurrent use.
type Budget struct {
	limit int64
	wait  time.Duration

	mu       sync.Mutex
	used     int64
	accounts map[string]*account // by key; there are no more than keys that work
	turns    list.List           // of *account: those with claims, who is next in front
}

// account is what the requests of one key hold. The lock of the budget guards it.
type account struct {
	key     string
	total   holding
	addrs   map[netip.Prefix]holding
	waiting int // claims in lines
	lines   map[netip.Prefix]*line
	order   list.List     // of *line, who is next in front
	turn    *list.Element // its place in turns, nil while nobody waits
}

// line is the claims of one address, first come first served.
type line struct {
	claims list.List     // of *claim
	turn   *list.Element // its place in order
}

// holding is what is in flight.
type holding struct {
	requests int
	bytes    int64
}

// seat is where a request is charged. The zero seat is of no budget.
type seat struct {
	account *account
	addr    netip.Prefix
}

type claim struct {
	addr  netip.Prefix
	n     int64
	opens bool          // it is a request's first claim
	ready chan struct{} // closed when granted
}

// NewBudget makes a budget of limit bytes; 0 or less means DefaultBudget.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		limit = DefaultBudget
	}
	return &Budget{limit: limit, wait: maxWait, accounts: map[string]*account{}}
}

// InUse is how many bytes are held at the moment, for a gauge.
func (b *Budget) InUse() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Limit is the size of the budget in bytes, 0 for unbounded.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// open takes a place and n bytes for a new request of the sender, and waits a
// moment for them where needed. The error has kind overloaded.
func (b *Budget) open(ctx context.Context, from Sender, n int64) (seat, error) {
	if b == nil {
		return seat{}, nil
	}
	b.mu.Lock()
	a := b.accounts[from.Key]
	if a == nil {
		a = &account{key: from.Key, addrs: map[netip.Prefix]holding{}, lines: map[netip.Prefix]*line{}}
		b.accounts[from.Key] = a
	}
	return seat{a, from.Addr}, b.take(ctx, a, claim{addr: from.Addr, n: n, opens: true})
}

// acquire takes n bytes more for a request and waits a moment for them where
// needed. The error has kind overloaded.
func (b *Budget) acquire(ctx context.Context, s seat, n int64) error {
	if b == nil || n == 0 {
		return nil
	}
	b.mu.Lock()
	return b.take(ctx, s.account, claim{addr: s.addr, n: n})
}

// take is called with the lock, and gives it back.
func (b *Budget) take(ctx context.Context, a *account, c claim) error {
	if a.lines[c.addr] == nil && b.fits(a, c) {
		b.hold(a, c)
		b.mu.Unlock()
		return nil
	}
	if c.n > b.limit || a.waiting >= maxWaiting {
		b.mu.Unlock()
		return overloaded()
	}
	place, ready := b.join(a, c)
	b.mu.Unlock()

	timeout := time.NewTimer(b.wait)
	defer timeout.Stop()
	select {
	case <-ready:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-ready: // granted while we gave up: keep it
		return nil
	default:
		b.leave(a, a.lines[c.addr], place)
		b.grant() // the next one may be smaller than this was
		return overloaded()
	}
}

// try takes n bytes without waiting.
func (b *Budget) try(s seat, n int64) bool {
	if b == nil || n == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := claim{addr: s.addr, n: n}
	if !b.fits(s.account, c) {
		return false
	}
	b.hold(s.account, c)
	return true
}

// release gives n bytes back.
func (b *Budget) release(s seat, n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(s, holding{bytes: n})
}

// close gives back a request's place and the n bytes that are left of it.
func (b *Budget) close(s seat, n int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free(s, holding{requests: 1, bytes: n})
}

// fits says whether the claim can be granted now. Who has a single request in
// flight is bounded by the budget alone: the largest request must have its way
// some time.
func (b *Budget) fits(a *account, c claim) bool {
	left := b.limit - b.used - c.n
	if left < 0 {
		return false
	}
	ofKey := a.total.requests
	if c.opens {
		if ofKey++; ofKey > maxPlaces {
			return false
		}
	}
	addr := a.addrs[c.addr]
	ofAddr := addr.requests
	if c.opens {
		if ofAddr++; ofAddr > 1 && ofAddr > maxPlaces-ofKey+1 {
			return false
		}
	}
	if a.key == "" {
		return a.total.bytes+c.n <= b.limit/strangerShare
	}
	return (ofKey == 1 || a.total.bytes+c.n <= keyShare*left) &&
		(ofAddr == 1 || addr.bytes+c.n <= left)
}

func (b *Budget) hold(a *account, c claim) {
	addr := a.addrs[c.addr]
	if c.opens {
		a.total.requests++
		addr.requests++
	}
	a.total.bytes += c.n
	addr.bytes += c.n
	a.addrs[c.addr] = addr
	b.used += c.n
}

func (b *Budget) free(s seat, h holding) {
	a, addr := s.account, s.account.addrs[s.addr]
	a.total.requests -= h.requests
	a.total.bytes -= h.bytes
	addr.requests -= h.requests
	addr.bytes -= h.bytes
	if addr == (holding{}) {
		delete(a.addrs, s.addr)
	} else {
		a.addrs[s.addr] = addr
	}
	b.used -= h.bytes
	b.grant()
}

// join puts a claim at the end of its line.
func (b *Budget) join(a *account, c claim) (place *list.Element, ready <-chan struct{}) {
	c.ready = make(chan struct{})
	l := a.lines[c.addr]
	if l == nil {
		l = &line{}
		l.turn = a.order.PushBack(l)
		a.lines[c.addr] = l
	}
	if a.turn == nil {
		a.turn = b.turns.PushBack(a)
	}
	a.waiting++
	return l.claims.PushBack(c), c.ready
}

// leave takes a claim out of its line.
func (b *Budget) leave(a *account, l *line, place *list.Element) {
	c := l.claims.Remove(place).(claim)
	a.waiting--
	if l.claims.Len() == 0 {
		a.order.Remove(l.turn)
		delete(a.lines, c.addr)
	}
	if a.waiting == 0 {
		b.turns.Remove(a.turn)
		a.turn = nil
	}
}

// grant serves those who wait in turns: one claim of a key, then one of the
// next, until every key has what it can have. What is granted leaves less for
// everybody, so that who could not have his turn need not be asked again.
func (b *Budget) grant() {
	for turn := b.turns.Front(); turn != nil; {
		a, next := turn.Value.(*account), turn.Next()
		if b.serve(a) && a.turn != nil {
			b.turns.MoveToBack(turn)
			if next == nil { // it is the last one that has not had all it can have
				next = turn
			}
		}
		turn = next
	}
}

// serve grants a key one claim, if one of its addresses can have it. They take
// turns too.
func (b *Budget) serve(a *account) bool {
	for turn := a.order.Front(); turn != nil; turn = turn.Next() {
		l := turn.Value.(*line)
		place := l.claims.Front()
		c := place.Value.(claim)
		if !b.fits(a, c) {
			continue
		}
		b.hold(a, c)
		close(c.ready)
		a.order.MoveToBack(turn)
		b.leave(a, l, place)
		return true
	}
	return false
}
