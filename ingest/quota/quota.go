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
	// lookAgain is how often Wait looks at a bucket: the limit of a project may be
	// raised meanwhile.
	lookAgain = time.Second / 2
)

// Config has the limits.
type Config struct {
	// KeyPerMinute and ProjectPerMinute are the events a minute of one key and
	// of one project, 0 for no limit.
	KeyPerMinute, ProjectPerMinute int
	// OfProject gives the limit that a project has of its own, 0 for no limit; own is
	// false where ProjectPerMinute holds. It is asked for each request and must not
	// block. nil: no project has one.
	OfProject func(project uint64) (perMinute uint64, own bool)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Registerer takes the metric; nil keeps it unregistered.
	Registerer prometheus.Registerer
}

// ByNoiseRule is the reason in errata_refused_events_total for events that a noise rule
// of their project drops.
const ByNoiseRule = "noise_rule"

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
	own     func(project uint64) (perMinute uint64, own bool)
	refused *prometheus.CounterVec

	mu       sync.Mutex
	keys     buckets[string]
	projects buckets[uint64]
	answers  buckets[string] // refusals that a key gets at once
	named    map[uint64]bool // projects with a label of their own
	lanes    map[owner]*lane // nil: keys have no limit
	// latest is who sent last, and before who did so of the others.
	latest, before sender
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
		now:     cfg.Now,
		own:     cfg.OfProject,
		keys:    newBuckets(same[string](perMinute(cfg.KeyPerMinute))),
		answers: newBuckets(same[string](size{refusalsPerSecond, refusalsPerSecond})),
		named:   map[uint64]bool{},
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "errata_refused_events_total",
			Help: "Events not kept because their key (key_limit) or their project (project_limit) sent too many, or a noise rule drops them (noise_rule), by project. A request that was refused unparsed counts as one.",
		}, []string{"project", "reason"}),
	}
	others := perMinute(cfg.ProjectPerMinute)
	q.projects = newBuckets(func(project uint64) size {
		if limit, own := q.ofProject(project); own {
			return perMinute(int(limit))
		}
		return others
	})
	if cfg.KeyPerMinute > 0 {
		q.lanes = map[owner]*lane{}
	}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(q.refused); err != nil {
			return nil, fmt.Errorf("register the metric of refused events: %w", err)
		}
	}
	return q, nil
}

// perMinute is the size of a bucket for a limit.
func perMinute(events int) size {
	if events == 0 {
		return size{rate.Inf, 0}
	}
	return size{rate.Limit(float64(events) / time.Minute.Seconds()), max(1, events/burstShare)}
}

// ofProject is the limit that the project has of its own.
func (q *Quotas) ofProject(project uint64) (perMinute uint64, own bool) {
	if q.own == nil {
		return 0, false
	}
	return q.own(project)
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
	raise := "the operator to raise " + string(scope) + "-events-per-minute"
	if _, own := q.ofProject(g.Project); own && scope == OfProject {
		raise = "an administrator to raise limits.events_per_minute of the project"
	}
	told := errata.Errorf(errata.KindRateLimited,
		"this %s has sent more events than its limit; wait for as long as Retry-After says, or ask %s", string(scope), raise)
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
		if !background.Wait(ctx, min(wait, lookAgain)) {
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

// Dropped counts events that noise rules of their project drop, where refused events
// are counted.
func (q *Quotas) Dropped(project uint64, events int) {
	if q == nil || events == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused.WithLabelValues(q.label(project), ByNoiseRule).Add(float64(events))
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

// size is how many events come back into a bucket in a second, and how many it holds.
type size struct {
	limit rate.Limit
	burst int
}

// same is the size of the buckets of all holders.
func same[K comparable](all size) func(K) size { return func(K) size { return all } }

// buckets has a bucket for each holder.
type buckets[K comparable] struct {
	size func(holder K) size
	of   *lru.LRU[K, *rate.Limiter]
}

func newBuckets[K comparable](size func(holder K) size) buckets[K] {
	of, err := lru.NewLRU[K, *rate.Limiter](maxBuckets, nil)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return buckets[K]{size, of}
}

// bucket is the bucket of the holder, a full one for a new holder. After a change of its
// size it keeps what it holds, or its debt.
func (b buckets[K]) bucket(holder K, size size, now time.Time) *rate.Limiter {
	l, ok := b.of.Get(holder)
	switch {
	case !ok:
		l = rate.NewLimiter(size.limit, size.burst)
		b.of.Add(holder, l)
	case l.Limit() != size.limit || l.Burst() != size.burst:
		l.SetLimitAt(now, size.limit)
		l.SetBurstAt(now, size.burst)
	}
	return l
}

// wait is how long until the holder's bucket is not empty, 0 if it is not.
func (b buckets[K]) wait(holder K, now time.Time) time.Duration {
	size := b.size(holder)
	if size.limit == rate.Inf {
		return 0
	}
	missing := 1 - b.bucket(holder, size, now).TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// Rounded down to 0 it would mean that there is no need to wait.
	return max(time.Duration(missing/float64(size.limit)*float64(time.Second)), time.Microsecond)
}

// take takes n out of the holder's bucket, which may go into debt.
func (b buckets[K]) take(holder K, n int, now time.Time) {
	size := b.size(holder)
	if size.limit == rate.Inf {
		return
	}
	l := b.bucket(holder, size, now)
	for n > 0 { // one reservation is at most a full bucket
		part := min(n, size.burst)
		l.ReserveN(now, part)
		n -= part
	}
}
