package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/outbox"
	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// world is what outboxes share: the buckets, the firings, the clock and the receivers.
type world struct {
	t                    *testing.T
	progress, deliveries jetstream.KeyValue
	random               *rand.Rand

	mu      sync.Mutex
	now     time.Time
	firings []alerts.Firing
	// got is what receivers got, by channel and message.
	got map[string]map[string]*received
	// unfolded is how many of the last facts have no records yet.
	unfolded uint64
	// noted are the failures that were noted, by key.
	noted map[string]outbox.Failure
	// refuse says whether a receiver refuses now.
	refuse func() bool
	// taken is called before a receiver takes a message, nil for none.
	taken func(channel string)
	// unreliable says how many of ten writes do not work, or work and seem not to.
	unreliable int
}

type received struct {
	rule  string
	fired uint64
	times int
	items []shown
}

func newWorld(t *testing.T) *world {
	t.Helper()
	env := testenv.NewBroker(t)
	open := func(name string) jetstream.KeyValue {
		kv, err := env.JetStream.KeyValue(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return kv
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return &world{
		t: t, progress: open(migrations.AlertsBucket(env.Namespace)), deliveries: open(migrations.DeliveriesBucket(env.Namespace)),
		random: rand.New(rand.NewPCG(seed, 3)), now: time.UnixMilli(1_795_231_120_683).UTC(), got: map[string]map[string]*received{},
		refuse: func() bool { return false },
	}
}

var (
	rules = alerts.Set{
		{ID: "rule-a", Name: "A", Enabled: true, To: []string{"one", "two"}},
		{ID: "rule-b", Name: "B", Enabled: true, To: []string{"two", "three"}},
	}
	channelIDs = []string{"one", "two", "three"}
)

// secret is the secret of all channels; 32 bytes.
const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// fire adds so many firings behind those that there are.
func (w *world) fire(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		at := errata.PositionOf(uint64(len(w.firings)/3+1), len(w.firings)%3)
		w.firings = append(w.firings, alerts.Firing{Position: at, Rule: rules[w.random.IntN(len(rules))].ID, Cause: alerts.CauseNew, Clock: w.now.UnixMilli()})
	}
}

// errBroken is the error of a write that did not work, or seemed not to.
var errBroken = errors.New("the connection broke")

// chance says whether something with a chance of n in ten happens.
func (w *world) chance(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(10) < n
}

// bucket is a bucket whose writes fail at times, before or after they have happened: as
// for a process that dies.
type bucket struct {
	jetstream.KeyValue
	*world
}

func (b bucket) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	return b.broken(func() (uint64, error) { return b.KeyValue.Create(ctx, key, value, opts...) })
}

func (b bucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return b.broken(func() (uint64, error) { return b.KeyValue.Update(ctx, key, value, revision) })
}

func (b bucket) broken(write func() (uint64, error)) (uint64, error) {
	if b.chance(b.unreliable) {
		return 0, errBroken
	}
	revision, err := write()
	if b.chance(b.unreliable) {
		return 0, errBroken
	}
	return revision, err
}

// Send is the receiver of all channels.
func (w *world) Send(_ context.Context, r render.Request) post.Outcome {
	var body struct {
		Data struct {
			Rule  struct{ ID string }
			Fired uint64
			Items []shown
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		w.t.Errorf("body of %s: %v", r.ID, err)
	}
	channel := r.URL[len("https://example.org/"):]
	if w.taken != nil {
		w.taken(channel)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse() {
		return post.Outcome{Status: 500, Err: "the receiver answered 500"}
	}
	if w.got[channel] == nil {
		w.got[channel] = map[string]*received{}
	}
	one := w.got[channel][r.ID]
	if one == nil {
		one = &received{body.Data.Rule.ID, body.Data.Fired, 0, body.Data.Items}
		w.got[channel][r.ID] = one
	}
	if one.times++; one.rule != body.Data.Rule.ID || one.fired != body.Data.Fired {
		w.t.Errorf("message %s to %s was one of %s about %d, and is one of %s about %d", r.ID, channel, one.rule, one.fired, body.Data.Rule.ID, body.Data.Fired)
	}
	return post.Outcome{OK: true, Status: 200}
}

func (w *world) channel(_ context.Context, id string) (alerts.Channel, error) {
	return alerts.Channel{ID: id, Name: id, Kind: alerts.Webhook, Enabled: true, URL: "https://example.org/" + id, Secret: secret}, nil
}

// note keeps a failure; it fails at times, before or after it has.
func (w *world) note(_ context.Context, key string, f outbox.Failure) error {
	broken := w.chance(w.unreliable)
	w.mu.Lock()
	defer w.mu.Unlock()
	if broken && len(w.noted)%2 == 0 {
		return errBroken
	}
	if w.noted == nil {
		w.noted = map[string]outbox.Failure{}
	}
	w.noted[key] = f
	if broken {
		return errBroken
	}
	return nil
}

// folded is the last fact whose records are there.
func (w *world) folded(context.Context) (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return uint64((len(w.firings)+2)/3) - w.unfolded, nil
}

// node makes an outbox that follows the deliveries until it is killed.
func (w *world) node() (o *outbox.Outbox, kill func()) {
	w.t.Helper()
	o, err := outbox.New(outbox.Config{
		Progress: bucket{w.progress, w}, Deliveries: bucket{w.deliveries, w}, Alerts: func() (alerts.Set, alerts.Channels) { return rules, nil },
		Note: w.note, Channel: w.channel, Fired: w.fired, Firings: w.firingsOf, Folded: w.folded, Sender: w, Now: w.clock,
		Items: func(_ context.Context, list []alerts.Firing) ([]alerts.Item, error) {
			items := make([]alerts.Item, len(list))
			for i, f := range list {
				items[i] = alerts.Item{Cause: f.Cause, Text: "it failed", Book: "system"}
			}
			return items, nil
		},
		Slug: func(n uint64) string { return fmt.Sprint(n) }, Page: func() string { return "https://errors.example.org" },
		Follow: func(func()) (func() error, error) { return func() error { return nil }, nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		o.Follow(ctx)
	}()
	return o, func() {
		cancel()
		<-followed
	}
}

// settle looks until everything has arrived.
func (w *world) settle(o *outbox.Outbox) {
	w.t.Helper()
	for range 400 {
		if err := o.Look(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if w.complete() && o.Waiting() == 0 {
			return
		}
		w.advance(20 * time.Second)
	}
	w.t.Fatalf("not everything has arrived: %d wait", o.Waiting())
}

// complete says whether each channel has got every firing of its rules.
func (w *world) complete() bool {
	return len(w.missing()) == 0
}

// missing says which channels have got another number of firings of a rule than there are.
func (w *world) missing() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fired := map[string]uint64{}
	for _, f := range w.firings {
		fired[f.Rule]++
	}
	for _, rule := range rules {
		for _, channel := range rule.To {
			var got uint64
			for _, m := range w.got[channel] {
				if m.rule == rule.ID {
					got += m.fired
				}
			}
			if got != fired[rule.ID] {
				all = append(all, fmt.Sprintf("%s has got %d of %d firings of %s", channel, got, fired[rule.ID], rule.ID))
			}
		}
	}
	return all
}

// TestEachCauseArrivesOnce: two nodes that die a hundred times, and whose writes fail or
// seem to, tell each channel of each of 10,000 firings in one message. A message that is
// sent again is the same one.
func TestEachCauseArrivesOnce(t *testing.T) {
	w := newWorld(t)
	const kills, firings = 100, 10_000
	w.unreliable = 2
	for range kills {
		w.fire(firings / kills)
		var nodes sync.WaitGroup
		for range 2 {
			o, kill := w.node()
			nodes.Go(func() {
				for range 3 {
					_ = o.Look(t.Context()) // what does not work is done again
					w.advance(15 * time.Second)
				}
				kill()
			})
		}
		nodes.Wait()
	}
	w.unreliable = 0
	o, kill := w.node()
	defer kill()
	w.settle(o)
	again, messages := 0, 0
	for _, channel := range channelIDs {
		for _, m := range w.got[channel] {
			messages++
			again += m.times - 1
		}
	}
	t.Logf("%d messages have arrived, %d of them were sent again", messages, again)
	if messages < kills || again == 0 {
		t.Errorf("%d messages, %d sent again: nobody died while sending", messages, again)
	}
	for _, d := range o.List() {
		if d.State != outbox.Sent {
			t.Errorf("delivery %+v", d)
		}
	}
}

// TestReceiverFailsForAnHour: everything that was told meanwhile arrives afterwards.
func TestReceiverFailsForAnHour(t *testing.T) {
	w := newWorld(t)
	o, kill := w.node()
	defer kill()
	until := w.now.Add(time.Hour)
	w.refuse = func() bool { return w.now.Before(until) }
	for range 60 {
		w.fire(5)
		if err := o.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.advance(time.Minute)
	}
	if len(w.got) > 0 {
		t.Fatalf("arrived at a receiver that refuses: %v", w.got)
	}
	w.settle(o)
	for channel, messages := range w.got {
		for id, m := range messages {
			if m.times != 1 {
				t.Errorf("%s has got message %s %d times", channel, id, m.times)
			}
		}
	}
}

// TestReceiverIsGone: after a day a message has failed, and says why.
func TestReceiverIsGone(t *testing.T) {
	w := newWorld(t)
	o, kill := w.node()
	defer kill()
	w.refuse = func() bool { return true }
	w.fire(1)
	for range 26 * 6 {
		if err := o.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.advance(10 * time.Minute)
	}
	list := o.List()
	if len(list) != 2 {
		t.Fatalf("%d deliveries, want those of two channels", len(list))
	}
	for _, d := range list {
		last := d.Last[len(d.Last)-1]
		if d.State != outbox.Failed || d.Tries < 24 || last.Status != 500 || last.At.Sub(d.Made) > 24*time.Hour || last.At.Sub(d.Made) < 22*time.Hour {
			t.Errorf("delivery %+v", d)
		}
		want := outbox.Failure{Version: 1, ID: d.ID, Rule: d.Rule, Channel: d.Channel, Made: d.Made, Fired: 1, Tries: d.Tries, Why: last.Error}
		if noted := w.noted[d.ID+"."+d.Channel]; noted != want {
			t.Errorf("noted %+v, want %+v", noted, want)
		}
	}
}
