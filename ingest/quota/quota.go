package quota

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/internal/background"
)

// The default limits in events a minute. An application that sends a thousand errors
// a second stays below the limit of its key. A key at its limit takes a tenth of two
// processors.
const (
	DefaultKeyPerMinute     = 120_000
	DefaultProjectPerMinute = 240_000
)

const (
	// burstShare is the part of a minute's events that may come at once, one sixth:
	// what an application sends when a deploy breaks it. The events of a whole minute
	// at once would slow the other senders for seconds.
	burstShare = 6
	// maxBuckets bounds the memory to about 2 MB. Only good keys have a bucket. A key
	// whose bucket was dropped begins with a full one.
	maxBuckets = 10_000
	// maxProjects bounds the values of the label project in the metric. Further
	// projects count as "other".
	maxProjects = 100
	// refusalsPerSecond is how many refusals a key gets at once; each further one is
	// delayed, up to holdMost. Otherwise a sender that ignores Retry-After could take
	// all the processor time. A delayed request takes only the memory of its
	// connection.
	refusalsPerSecond = 50
	holdMost          = time.Second
)

// Config has the limits.
type Config struct {
	// KeyPerMinute and ProjectPerMinute are the events a minute of one key and
	// of one project, 0 for no limit.
	KeyPerMinute, ProjectPerMinute int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Registerer takes the metric; nil keeps it unregistered.
	Registerer prometheus.Registerer
}

// Scope says which bucket is empty, that of the key or that of the project.
type Scope string

// The scopes, in the words of Sentry's rate limits.
const (
	OfKey     Scope = "key"
	OfProject Scope = "project"
)

// Quotas are the buckets of this node. They are safe for concurrent use. A nil
// *Quotas has no limits.
type Quotas struct {
	now     func() time.Time
	refused *prometheus.CounterVec

	mu       sync.Mutex
	keys     buckets[string]
	projects buckets[uint64]
	answers  buckets[string]  // refusals that a key gets at once
	named    map[uint64]bool  // projects with a label of their own
	lanes    map[string]*lane // by key; nil: keys have no limit
}

// New checks the configuration. All buckets are full at first.
func New(cfg Config) (*Quotas, error) {
	if cfg.KeyPerMinute < 0 || cfg.ProjectPerMinute < 0 {
		return nil, errors.New("quota: a limit is negative; 0 is no limit")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	q := &Quotas{
		now:      cfg.Now,
		keys:     newBuckets[string](perMinute(cfg.KeyPerMinute)),
		projects: newBuckets[uint64](perMinute(cfg.ProjectPerMinute)),
		answers:  newBuckets[string](refusalsPerSecond, refusalsPerSecond),
		named:    map[uint64]bool{},
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_refused_events_total",
			Help: "Events refused because their key (key_limit) or their project (project_limit) sent too many, by project. A request whose body was not read counts as one.",
		}, []string{"project", "reason"}),
	}
	if cfg.KeyPerMinute > 0 {
		q.lanes = map[string]*lane{}
	}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(q.refused); err != nil {
			return nil, fmt.Errorf("register the metric of refused events: %w", err)
		}
	}
	return q, nil
}

// perMinute is the rate and the size of a bucket for a limit.
func perMinute(events int) (rate.Limit, int) {
	if events == 0 {
		return rate.Inf, 0
	}
	return rate.Limit(float64(events) / time.Minute.Seconds()), max(1, events/burstShare)
}

// Check refuses a request while the bucket of its key or of its project is empty.
// The error has kind rate_limited, and RetryAfter is the time until Check passes.
func (q *Quotas) Check(g access.Grant) error {
	if q == nil {
		return nil
	}
	ofKey, ofProject := q.waits(g)
	scope, wait := OfKey, ofKey
	if ofProject > ofKey {
		scope, wait = OfProject, ofProject
	}
	if wait == 0 {
		return nil
	}
	told := errata.Errorf(errata.KindRateLimited,
		"this %s has sent more events than its limit; wait for as long as Retry-After says, or ask the operator to raise %[1]s-events-per-minute", string(scope))
	told.RetryAfter = wait
	return told.Because(&refusal{grant: g, scope: scope, events: 1})
}

// waits is how long the key and the project have to wait.
func (q *Quotas) waits(g access.Grant) (ofKey, ofProject time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	return q.keys.wait(g.KeyID, now), q.projects.wait(g.Project, now)
}

// Charge takes the number of events out of the buckets of their key and project.
func (q *Quotas) Charge(g access.Grant, events int) {
	if q == nil || events <= 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	q.keys.take(g.KeyID, events, now)
	q.projects.take(g.Project, events, now)
}

// Wait returns when Check passes, or with ctx's error. It is for a receiver that can
// leave events in a queue.
func (q *Quotas) Wait(ctx context.Context, g access.Grant) error {
	for q != nil {
		wait := max(q.waits(g))
		if wait == 0 {
			return nil
		}
		if !background.Wait(ctx, wait) {
			return ctx.Err()
		}
	}
	return nil
}

// refusal is the cause inside the error of [Quotas.Check].
type refusal struct {
	grant  access.Grant
	scope  Scope
	events int
}

// Error says whose bucket was empty.
func (r *refusal) Error() string { return "the bucket of the " + string(r.scope) + " is empty" }

// Holding tells the error of [Quotas.Check] how many events the request has.
func Holding(err error, events int) error {
	if r, ok := errors.AsType[*refusal](err); ok {
		r.events = max(1, events)
	}
	return err
}

// ScopeOf says which bucket was empty, [OfKey] for any other error.
func ScopeOf(err error) Scope {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.scope
	}
	return OfKey
}

// Settle counts a refusal by Check, and delays it for up to a second if the key gets
// many. It is called with the result of each request, before the answer and after the
// body was closed.
func (q *Quotas) Settle(ctx context.Context, err error) {
	r, ok := errors.AsType[*refusal](err)
	if q == nil || !ok {
		return
	}
	q.mu.Lock()
	q.refused.WithLabelValues(q.label(r.grant.Project), string(r.scope)+"_limit").Add(float64(r.events))
	now := q.now()
	wait := q.answers.wait(r.grant.KeyID, now)
	q.answers.take(r.grant.KeyID, 1, now)
	q.mu.Unlock()
	if wait > 0 {
		background.Wait(ctx, min(wait, holdMost)) // ends early if the sender is gone
	}
}

// label is the project's label in the metric. The caller holds mu.
func (q *Quotas) label(project uint64) string {
	if !q.named[project] {
		if len(q.named) == maxProjects {
			return "other"
		}
		q.named[project] = true
	}
	return strconv.FormatUint(project, 10)
}

// buckets has a bucket of the same size for each holder.
type buckets[K comparable] struct {
	limit rate.Limit
	burst int
	of    *lru.LRU[K, *rate.Limiter]
}

func newBuckets[K comparable](limit rate.Limit, burst int) buckets[K] {
	of, err := lru.NewLRU[K, *rate.Limiter](maxBuckets, nil)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return buckets[K]{limit, burst, of}
}

// bucket is the bucket of the holder, a full one for a new holder.
func (b buckets[K]) bucket(holder K) *rate.Limiter {
	l, ok := b.of.Get(holder)
	if !ok {
		l = rate.NewLimiter(b.limit, b.burst)
		b.of.Add(holder, l)
	}
	return l
}

// wait is how long until the holder's bucket is not empty, 0 if it is not.
func (b buckets[K]) wait(holder K, now time.Time) time.Duration {
	if b.limit == rate.Inf {
		return 0
	}
	missing := 1 - b.bucket(holder).TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// Rounded down to 0 it would mean that there is no need to wait.
	return max(time.Duration(missing/float64(b.limit)*float64(time.Second)), time.Microsecond)
}

// take takes n out of the holder's bucket, which may go into debt.
func (b buckets[K]) take(holder K, n int, now time.Time) {
	if b.limit == rate.Inf {
		return
	}
	l := b.bucket(holder)
	for n > 0 { // one reservation is at most a full bucket
		part := min(n, b.burst)
		l.ReserveN(now, part)
		n -= part
	}
}
