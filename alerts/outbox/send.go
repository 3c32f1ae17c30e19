package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/internal/pagelink"
)

const (
	// sendersAtOnce bounds the messages of one channel that are sent at once.
	sendersAtOnce = 4
	// recent is how many deliveries are listed.
	recent = 1000
	// freed is how many ended deliveries make room when the bucket is full.
	freed = 100
	// noteWithin bounds noting what came of a try, also when the service stops.
	noteWithin = 10 * time.Second
)

// deliveries is this node's copy of what stands in the bucket.
type deliveries struct {
	mu sync.Mutex
	// waiting are those to be sent, by key, list the newest of all without their messages,
	// oldest first.
	waiting map[string]stored
	list    []stored
}

type stored struct {
	Delivery
	revision uint64
}

// note puts a state of a delivery into the copy, unless the copy has a newer one. States come
// from several goroutines, so the one that made the delivery may come after the one that sent it.
func (d *deliveries) note(key string, one stored) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.list, func(other stored) bool { return other.ID == one.ID && other.Channel == one.Channel })
	if d.waiting[key].revision > one.revision || i >= 0 && d.list[i].revision > one.revision {
		return
	}
	delete(d.waiting, key)
	if one.State == Waiting {
		d.waiting[key] = one
	}
	shown := one
	shown.Message = nil
	if i >= 0 {
		d.list[i] = shown
		return
	}
	at, _ := slices.BinarySearchFunc(d.list, shown, func(a, b stored) int { return a.Made.Compare(b.Made) })
	d.list = slices.Insert(d.list, at, shown)
	d.list = d.list[max(0, len(d.list)-recent):]
}

// count is how many are to be sent.
func (d *deliveries) count() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return float64(len(d.waiting))
}

// due takes what a node may send now.
func (d *deliveries) due(now time.Time) (due []stored) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.waiting {
		if one.due(now) {
			due = append(due, one)
		}
	}
	slices.SortFunc(due, func(a, b stored) int { return a.Made.Compare(b.Made) })
	return due
}

// ended are the oldest deliveries that have ended.
func (d *deliveries) ended(limit int) (keys []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := 0; i < len(d.list) && len(keys) < limit; i++ {
		if one := &d.list[i]; one.State != Waiting {
			keys = append(keys, keyOf(one.ID, one.Channel))
		}
	}
	return keys
}

// List are the newest deliveries, the newest first.
func (o *Outbox) List() []Delivery {
	o.deliveries.mu.Lock()
	defer o.deliveries.mu.Unlock()
	list := make([]Delivery, 0, len(o.deliveries.list))
	for _, one := range slices.Backward(o.deliveries.list) {
		list = append(list, one.Delivery)
	}
	return list
}

// followDeliveries keeps the copy until ctx ends or an error.
func (o *Outbox) followDeliveries(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	watcher, err := o.cfg.Deliveries.WatchAll(ctx)
	if err != nil {
		cancel()
		return fmt.Errorf("follow the deliveries: %w", err)
	}
	defer bucket.EndWatch(watcher, cancel)
	for {
		entry, err := bucket.NextEntry(ctx, watcher)
		if err != nil {
			return fmt.Errorf("follow the deliveries: %w", err)
		}
		if entry != nil && entry.Operation() == jetstream.KeyValuePut {
			o.noteEntry(entry)
		}
	}
}

func (o *Outbox) noteEntry(entry jetstream.KeyValueEntry) {
	one := stored{revision: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &one.Delivery); err != nil || one.ID == "" {
		return // it is not from Errata
	}
	o.deliveries.note(entry.Key(), one)
	if one.State == Waiting {
		signal(o.dueNow)
	}
}

// putDelivery writes a delivery in place of that of the revision, 0 for none. A full bucket
// loses its oldest deliveries that have ended.
func (o *Outbox) putDelivery(ctx context.Context, d Delivery, revision uint64) (uint64, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return 0, fmt.Errorf("encode a delivery: %w", err)
	}
	key := keyOf(d.ID, d.Channel)
	if revision, err = bucket.KV(o.cfg.Deliveries).Put(ctx, key, text, revision); errors.Is(err, bucket.ErrFull) {
		for _, key := range o.deliveries.ended(freed) {
			err = errors.Join(err, o.cfg.Deliveries.Purge(ctx, key))
		}
	}
	if err != nil {
		return 0, fmt.Errorf("write delivery %s: %w", key, err)
	}
	o.deliveries.note(key, stored{d, revision})
	return revision, nil
}

// sendDue begins to send each delivery that is due and not being sent. It does not wait for
// them, so a slow receiver holds up its own channel alone. The error is of those that have
// ended since the last call. It leaves out those that another node has claimed.
func (o *Outbox) sendDue(ctx context.Context) error {
	for _, one := range o.deliveries.due(o.cfg.Now()) {
		if ctx.Err() == nil && o.senders.begin(&one.Delivery) {
			o.senders.running.Go(func() {
				o.senders.end(&one.Delivery, o.send(ctx, one))
				signal(o.dueNow) // others may wait for the place
			})
		}
	}
	return o.senders.failures()
}

// senders are the deliveries that are being sent.
type senders struct {
	running sync.WaitGroup
	mu      sync.Mutex
	keys    map[string]bool
	of      map[string]int // by channel
	failed  error
}

// begin takes a place, and says whether there is one.
func (s *senders) begin(d *Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := keyOf(d.ID, d.Channel)
	if s.keys[key] || s.of[d.Channel] == sendersAtOnce {
		return false
	}
	s.keys[key] = true
	s.of[d.Channel]++
	return true
}

func (s *senders) end(d *Delivery, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, keyOf(d.ID, d.Channel))
	if s.of[d.Channel]--; s.of[d.Channel] == 0 {
		delete(s.of, d.Channel)
	}
	if err != nil && !errors.Is(err, bucket.ErrConflict) {
		s.failed = errors.Join(s.failed, err)
	}
}

func (s *senders) failures() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := s.failed
	s.failed = nil
	return failed
}

// send claims a delivery, tries it once and notes what came of it.
func (o *Outbox) send(ctx context.Context, one stored) error {
	claimed := one.Delivery
	claimed.Leased = o.cfg.Now().Add(lease)
	revision, err := o.putDelivery(ctx, claimed, one.revision)
	if err != nil {
		return err
	}
	outcome, err := o.attempt(ctx, &one.Delivery)
	if err != nil {
		return err // the lease ends, and then it is tried again
	}
	next := one.after(o.cfg.Now(), outcome)
	noting, stop := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer stop()
	if next.State == Failed {
		if err := o.cfg.Note(noting, keyOf(next.ID, next.Channel), next.failure()); err != nil {
			return fmt.Errorf("note that %s has failed: %w", next.ID, err) // the lease ends, and then it is tried once more
		}
	}
	if _, err = o.putDelivery(noting, next, revision); err != nil || next.State == Waiting {
		return err
	}
	o.metrics.ended.WithLabelValues(string(next.State)).Inc()
	if next.State == Failed {
		o.cfg.Logger.Warn("an alert has not arrived", "delivery", next.ID, "channel", next.Channel, "tries", next.Tries, "why", next.Last[len(next.Last)-1].Error)
	}
	return nil
}

// attempt tries a delivery once. An error says that it could not be tried.
func (o *Outbox) attempt(ctx context.Context, d *Delivery) (post.Outcome, error) {
	channel, err := o.cfg.Channel(ctx, d.Channel)
	switch {
	case errata.KindOf(err) == errata.KindNotFound:
		return post.Outcome{Err: "the channel was removed", Permanent: true}, nil
	case errata.KindOf(err) == errata.KindLogUnavailable:
		return post.Outcome{}, err
	case err != nil:
		return post.Outcome{Err: err.Error()}, nil //nolint:nilerr // it is the outcome of the try
	case !channel.Enabled:
		return post.Outcome{Err: "the channel is switched off", Permanent: true}, nil
	}
	if len(d.Left) > 0 {
		channel.Addresses = d.Left
	}
	return o.post(ctx, channel, *d.Message), nil
}

func (o *Outbox) post(ctx context.Context, channel alerts.Channel, m alerts.Message) post.Outcome {
	r, err := render.Render(channel, m, o.cfg.Now())
	if err != nil {
		return post.Outcome{Err: err.Error(), Permanent: true}
	}
	return o.cfg.Sender.Send(ctx, r)
}

// Test sends a message that only says that it is a test, and returns what came of it.
// Errors: not_found, log_unavailable.
func (o *Outbox) Test(ctx context.Context, channel string) (Try, error) {
	now := o.cfg.Now()
	c, err := o.cfg.Channel(ctx, channel)
	switch kind := errata.KindOf(err); {
	case kind == errata.KindNotFound || kind == errata.KindLogUnavailable:
		return Try{}, err
	case err != nil: // its secrets do not open
		return try(now, post.Outcome{Err: err.Error()}), nil //nolint:nilerr // likewise
	}
	m := alerts.Message{ID: "msg_test_" + nuid.Next(), At: now.UTC(), RuleName: c.Name, RuleLink: pagelink.Rule(o.cfg.Page(), ""), Test: true}
	return try(now, o.post(ctx, c, m)), nil
}

// follow keeps the copy of the deliveries up to date until ctx ends.
func (o *Outbox) follow(ctx context.Context) {
	background.Loop{
		Do: o.followDeliveries, Pauses: background.Pauses{First: 250 * time.Millisecond, Most: 5 * time.Second},
		Failed: background.Tell(o.cfg.Logger.Warn, "deliveries of alerts cannot be followed; trying again"),
	}.Run(ctx)
}
