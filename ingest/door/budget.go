package door

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// DefaultBudget is the default bound of the memory of the requests in flight. With
	// it the service and its engines stay within 1 GiB. It holds some thousand
	// ordinary events at once.
	DefaultBudget = 128 << 20

	// maxWait is how long a request waits for a part of the budget. Most SDKs
	// lose an event that is refused, so a short wait saves errors in a burst.
	maxWait = 2 * time.Second
	// maxWaiting bounds the requests of one key that wait. More would not get
	// their turn in time.
	maxWaiting = 1024

	// maxPlaces bounds the requests of one key that are read and stored at once. On
	// a slow disk, at 20 ms for each, that is 12,800 requests a second. A request of
	// another key has at most so many of this key before it.
	maxPlaces = 256
	// keyShare times the free part of the budget is the most that one key may hold:
	// two thirds of the budget for one key alone, two fifths each for two. Within its
	// key an address may hold the free part, and as many places as are free. So a
	// part of the budget is always free.
	keyShare = 2
	// strangerShare is the part of the budget, one eighth, for all requests whose key
	// is not known yet: maxPlaces places. The key is known after the first line of
	// the body, within milliseconds. So even a proxy or an office with thousands of
	// senders behind one address does not fill its half of it.
	strangerShare = 8
)

// Sender is the key and the address that a request is charged to.
type Sender struct {
	// Key is the id of the API key, "" until it is known.
	Key string
	// Addr is the group of addresses that one person can have. The zero Prefix
	// stands for all unknown addresses.
	Addr netip.Prefix
}

// Budget bounds the bytes that all requests in flight hold together: a flood is
// answered with 503 before the process runs out of memory. Each key and each address
// gets only a share, so that a flood of one sender leaves room for the others.
// Waiting requests get their turn by key. A nil *Budget has no bound. It is safe for
// concurrent use.
type Budget struct {
	limit int64
	wait  time.Duration

	mu       sync.Mutex
	used     int64
	accounts map[string]*account // by key; only good keys have one
	turns    list.List           // of *account with claims, the next one in front
}

// account is what the requests of one key hold. The lock of the budget guards it.
type account struct {
	key     string
	total   holding
	addrs   map[netip.Prefix]holding
	waiting int // claims in lines
	lines   map[netip.Prefix]*line
	order   list.List     // of *line, the next one in front
	turn    *list.Element // its place in turns, nil while no claim waits
}

// line is the queue of the claims of one address.
type line struct {
	claims list.List     // of claim
	turn   *list.Element // its place in order
}

// holding is a number of requests in flight and their bytes.
type holding struct {
	requests int
	bytes    int64
}

func (h holding) plus(o holding) holding { return holding{h.requests + o.requests, h.bytes + o.bytes} }

// seat is where a request is charged. The zero seat is that of a nil budget.
type seat struct {
	account *account
	addr    netip.Prefix
}

// claim is what a request asks for. The first claim of a request asks for a place.
type claim struct {
	addr netip.Prefix
	holding
	ready chan struct{} // closed when granted
}

// NewBudget makes a budget of limit bytes; 0 or less means DefaultBudget.
func NewBudget(limit int64) *Budget {
	if limit <= 0 {
		limit = DefaultBudget
	}
	return &Budget{limit: limit, wait: maxWait, accounts: map[string]*account{}}
}

// InUse is the number of bytes that are held now.
func (b *Budget) InUse() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// open takes a place and n bytes for a new request of the sender. It waits for up to
// maxWait. The error has kind overloaded.
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
	return seat{a, from.Addr}, b.take(ctx, a, claim{addr: from.Addr, holding: holding{1, n}})
}

// acquire takes n bytes more for a request. It waits for up to maxWait. The error has
// kind overloaded.
func (b *Budget) acquire(ctx context.Context, s seat, n int64) error {
	if b == nil || n == 0 {
		return nil
	}
	b.mu.Lock()
	return b.take(ctx, s.account, claim{addr: s.addr, holding: holding{bytes: n}})
}

// take waits until the claim is granted. The caller holds the lock; take unlocks it.
func (b *Budget) take(ctx context.Context, a *account, c claim) error {
	if a.lines[c.addr] == nil && b.fits(a, c) {
		b.add(a, c.addr, c.holding)
		b.mu.Unlock()
		return nil
	}
	if c.bytes > b.limit || a.waiting >= maxWaiting {
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
	case <-ready: // granted after the timeout
		return nil
	default:
		b.leave(a, a.lines[c.addr], place)
		b.grant() // the next claim may be smaller
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
	c := claim{addr: s.addr, holding: holding{bytes: n}}
	if !b.fits(s.account, c) {
		return false
	}
	b.add(s.account, s.addr, c.holding)
	return true
}

// release gives back a part of what the request at the seat holds.
func (b *Budget) release(s seat, h holding) {
	if b == nil || h == (holding{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s.account, s.addr, holding{-h.requests, -h.bytes})
	b.grant()
}

// fits says whether the claim can be granted now. A key or an address with a single
// request in flight has no share to keep to: else the largest request would never fit.
func (b *Budget) fits(a *account, c claim) bool {
	left := b.limit - b.used - c.bytes
	if left < 0 {
		return false
	}
	ofKey, ofAddr := a.total.plus(c.holding), a.addrs[c.addr].plus(c.holding)
	if c.requests > 0 && (ofKey.requests > maxPlaces || ofAddr.requests > max(1, maxPlaces-ofKey.requests+1)) {
		return false
	}
	if a.key == "" {
		return ofKey.bytes <= b.limit/strangerShare
	}
	return (ofKey.requests == 1 || ofKey.bytes <= keyShare*left) &&
		(ofAddr.requests == 1 || ofAddr.bytes <= left)
}

// add adds to what a key and one of its addresses hold.
func (b *Budget) add(a *account, addr netip.Prefix, h holding) {
	a.total = a.total.plus(h)
	if a.addrs[addr] = a.addrs[addr].plus(h); a.addrs[addr] == (holding{}) {
		delete(a.addrs, addr)
	}
	b.used += h.bytes
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

// grant grants waiting claims in turns, one of each key, until none fits any more. A
// granted claim leaves less for all, so a key whose claim did not fit is not tried
// again.
func (b *Budget) grant() {
	for turn := b.turns.Front(); turn != nil; {
		a, next := turn.Value.(*account), turn.Next()
		if b.serve(a) && a.turn != nil {
			b.turns.MoveToBack(turn)
			if next == nil { // it is the only key left whose claims may fit
				next = turn
			}
		}
		turn = next
	}
}

// serve grants one claim of a key, if one fits. Its addresses take turns.
func (b *Budget) serve(a *account) bool {
	for turn := a.order.Front(); turn != nil; turn = turn.Next() {
		l := turn.Value.(*line)
		place := l.claims.Front()
		c := place.Value.(claim)
		if !b.fits(a, c) {
			continue
		}
		b.add(a, c.addr, c.holding)
		close(c.ready)
		a.order.MoveToBack(turn)
		b.leave(a, l, place)
		return true
	}
	return false
}
