package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/alerts/post"
	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/bucket"
	"github.com/errata-log/errata/internal/pagelink"
)

// Config is what an [Outbox] needs. All but Logger and Registerer is required.
type Config struct {
	// Progress has up to which firing messages were made, Deliveries the deliveries.
	Progress, Deliveries jetstream.KeyValue
	// Alerts are the rules and channels in force, without secrets.
	Alerts func() (alerts.Set, alerts.Channels)
	// Channel is a channel with its secrets.
	Channel func(ctx context.Context, id string) (alerts.Channel, error)
	// Fired is the last firing of each rule that has fired behind one position and before another.
	Fired func(ctx context.Context, after, before errata.Position) (last map[string]errata.Position, err error)
	// Firings are the first firings of a rule behind one position and up to another, at most
	// limit, in the order of the log. all says how many there are without the limit.
	Firings func(ctx context.Context, rule string, after, last errata.Position, limit int) (first []alerts.Firing, all uint64, err error)
	// Folded is the last fact whose records can be read. What fires is written before them.
	Folded func(ctx context.Context) (sequence uint64, err error)
	// Items describe firings for a message, one for each, without slugs and links.
	Items func(ctx context.Context, firings []alerts.Firing) ([]alerts.Item, error)
	// Slug names a project.
	Slug func(project uint64) string
	// Page is the address of the service, for links.
	Page   func() string
	Sender Sender
	// Note puts on the log that a delivery has failed, once for each.
	Note func(ctx context.Context, key string, f Failure) error
	// Follow calls on whenever there may be new firings, until stop. Calls may get lost.
	Follow func(on func()) (stop func() error, err error)
	Now    func() time.Time
	Logger *slog.Logger
	// Registerer takes the metrics, nil for none.
	Registerer prometheus.Registerer
}

// Sender sends a message once; *[post.Sender] is one.
type Sender interface {
	Send(ctx context.Context, r render.Request) post.Outcome
}

// Outbox makes messages and sends them. Start begins the work.
type Outbox struct {
	cfg    Config
	moved  chan struct{} // capacity 1: there may be firings
	dueNow chan struct{} // capacity 1: there may be a delivery to send
	// made is the last firing that this process has looked at for all rules.
	made errata.Position
	// unfinished is when to look next for messages that a node has noted and not finished.
	unfinished time.Time
	deliveries deliveries
	senders    senders
	metrics    metrics
	work       background.Runner
}

const (
	// lookEvery is how often the outbox looks when nothing was announced.
	lookEvery = 2 * time.Second
	// lookPause is the least time between two looks: something is announced ten times a
	// second, people need not be told faster, and a look takes 9 ms of ClickHouse's processor
	// time.
	lookPause = time.Second
	// unfinishedEvery is how often a look asks for all rules whether a node has left a message
	// unfinished. Such a node dies rarely, and to ask costs a request for each rule.
	unfinishedEvery = 30 * time.Second
	// maxSubject is how much of it a list shows, in bytes.
	maxSubject = 200
)

// New checks the configuration.
func New(cfg Config) (*Outbox, error) {
	if cfg.Progress == nil || cfg.Deliveries == nil || cfg.Alerts == nil || cfg.Channel == nil || cfg.Fired == nil || cfg.Firings == nil || cfg.Folded == nil || cfg.Items == nil ||
		cfg.Sender == nil || cfg.Note == nil || cfg.Slug == nil || cfg.Page == nil || cfg.Follow == nil || cfg.Now == nil {
		return nil, errors.New("outbox: every field is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	o := &Outbox{cfg: cfg, moved: make(chan struct{}, 1), dueNow: make(chan struct{}, 1), deliveries: deliveries{waiting: map[string]stored{}},
		senders: senders{keys: map[string]bool{}, of: map[string]int{}}}
	o.metrics = newMetrics(cfg.Registerer, o.deliveries.count)
	return o, nil
}

// Start begins to make messages and to send them. A second call does nothing.
func (o *Outbox) Start() {
	o.work.Start(
		o.follow,
		o.lookForFirings,
		o.sendWhatIsDue,
	)
}

// sendWhatIsDue sends until ctx ends, and returns when nothing is being sent.
func (o *Outbox) sendWhatIsDue(ctx context.Context) {
	background.Loop{
		Every: time.Second, Now: o.dueNow, Do: o.sendDue,
		Failed: background.Tell(o.cfg.Logger.Warn, "alerts are late: a delivery cannot be written; the next look tries again"),
	}.Run(ctx)
	o.senders.running.Wait()
}

// lookForFirings makes messages until ctx ends.
func (o *Outbox) lookForFirings(ctx context.Context) {
	stop, err := o.cfg.Follow(func() { signal(o.moved) })
	if err != nil {
		o.cfg.Logger.Warn("alerts come up to two seconds late: progress is not announced", "error", err)
	} else {
		defer func() { _ = stop() }() // the connection may be gone, and then there is nothing to stop
	}
	background.Loop{
		Every: lookEvery, Now: o.moved, Do: func(ctx context.Context) error {
			err := o.makeMessages(ctx)
			background.Wait(ctx, lookPause)
			return err
		},
		Failed: background.Tell(o.cfg.Logger.Warn, "alerts are late: messages cannot be made; the next look tries again"),
	}.Run(ctx)
}

// Stop ends the work and waits for what is being sent. The error is that of ctx.
func (o *Outbox) Stop(ctx context.Context) error { return o.work.Stop(ctx) }

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// progress says how far a rule is told. It is the value of the rule in the bucket.
type progress struct {
	// To is the last firing that is in a message.
	To errata.Position `json:"to"`
	// At is when that message was made.
	At time.Time `json:"at"`
	// Message is that message until there is a delivery for each channel in Channels.
	Message  *alerts.Message `json:"message,omitempty"`
	Channels []string        `json:"channels,omitempty"`
}

// makeMessages makes the messages that are due, each for all firings of a rule that are in
// none yet.
func (o *Outbox) makeMessages(ctx context.Context) error {
	rules, _ := o.cfg.Alerts()
	if len(rules) == 0 {
		return nil
	}
	last, err := o.readable(ctx)
	if err != nil {
		return err
	}
	var failed error
	done := true // whether all of them are in messages
	now := o.cfg.Now()
	all := !now.Before(o.unfinished) // a node may have died behind its note of a message
	for _, rule := range rules {
		if !all && last[rule.ID] == 0 {
			continue
		}
		made, err := o.makeMessage(ctx, &rule, last[rule.ID])
		failed = errors.Join(failed, err)
		done = done && made
	}
	if all && failed == nil {
		o.unfinished = now.Add(unfinishedEvery)
	}
	if done && failed == nil {
		for _, position := range last {
			o.made = max(o.made, position)
		}
	}
	return failed
}

// readable is the last firing of each rule that is behind those in messages and whose record
// can be read. All firings of one event are before it, or behind it.
func (o *Outbox) readable(ctx context.Context) (last map[string]errata.Position, err error) {
	last, err = o.cfg.Fired(ctx, o.made, math.MaxUint64)
	if err != nil || len(last) == 0 {
		return nil, err
	}
	folded, err := o.cfg.Folded(ctx)
	if err != nil {
		return nil, err
	}
	end := errata.PositionOf(folded+1, 0)
	if slices.Max(slices.Collect(maps.Values(last))) < end {
		return last, nil
	}
	return o.cfg.Fired(ctx, o.made, end)
}

// makeMessage makes a message about the firings of a rule, up to the last one, that are in no
// message yet. It waits until the message before is a minute old. made says whether no firing is
// left over.
func (o *Outbox) makeMessage(ctx context.Context, rule *alerts.Rule, last errata.Position) (made bool, err error) {
	was, revision, err := o.progressOf(ctx, rule.ID)
	if err != nil {
		return false, err
	}
	if was.Message != nil {
		if was, revision, err = o.fanOut(ctx, rule.ID, was, revision); err != nil {
			return false, err
		}
	}
	if last <= was.To {
		return true, nil
	}
	now := o.cfg.Now().UTC()
	if now.Sub(was.At) < alerts.MessageGap {
		return false, nil
	}
	first, all, err := o.cfg.Firings(ctx, rule.ID, was.To, last, alerts.MaxItems)
	if err != nil || len(first) == 0 { // they are too old meanwhile
		return err == nil, err
	}
	m, err := o.message(ctx, rule, first, all, now)
	if err != nil {
		return false, err
	}
	next := progress{To: last, At: now, Message: m, Channels: rule.To}
	if revision, err = o.putProgress(ctx, rule.ID, next, revision); err != nil {
		if errors.Is(err, bucket.ErrConflict) {
			return false, nil // another node makes the message
		}
		return false, err
	}
	o.metrics.messages.Inc()
	_, _, err = o.fanOut(ctx, rule.ID, next, revision)
	return err == nil, err
}

// message describes firings, of which these are the first.
func (o *Outbox) message(ctx context.Context, rule *alerts.Rule, fired []alerts.Firing, all uint64, now time.Time) (*alerts.Message, error) {
	items, err := o.cfg.Items(ctx, fired)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i].Project = o.cfg.Slug(fired[i].Project)
		if fired[i].Cause == alerts.CauseQuiet {
			items[i].Link = pagelink.Project(o.cfg.Page(), items[i].Project)
			continue
		}
		items[i].Link = pagelink.Record(o.cfg.Page(), fired[i].Record.Book, items[i].Signature, "")
		items[i].MuteLink = pagelink.Mute(o.cfg.Page(), fired[i].Record.Book, items[i].Signature)
	}
	return &alerts.Message{
		ID: messageID(rule.ID, fired[0].Position, fired[0].Cause), RuleID: rule.ID, RuleName: rule.Name, At: now,
		Fired: all, Items: items, RuleLink: pagelink.Rule(o.cfg.Page(), rule.ID),
	}, nil
}

// fanOut makes a delivery of the message for each channel, and then notes that it did. Both
// may be done again.
func (o *Outbox) fanOut(ctx context.Context, rule string, p progress, revision uint64) (progress, uint64, error) {
	for _, channel := range p.Channels {
		d := Delivery{
			ID: p.Message.ID, Rule: rule, Channel: channel, Made: p.Message.At, Fired: p.Message.Fired, Subject: subjectOf(p.Message),
			State: Waiting, Last: []Try{}, Next: p.Message.At, Message: p.Message,
		}
		if _, err := o.putDelivery(ctx, d, 0); err != nil && !errors.Is(err, bucket.ErrConflict) {
			return p, revision, err
		}
	}
	signal(o.dueNow)
	p.Message, p.Channels = nil, nil
	revision, err := o.putProgress(ctx, rule, p, revision)
	if errors.Is(err, bucket.ErrConflict) {
		return o.progressAgain(ctx, rule)
	}
	return p, revision, err
}

func (o *Outbox) progressAgain(ctx context.Context, rule string) (progress, uint64, error) {
	p, revision, err := o.progressOf(ctx, rule)
	p.Message = nil // another node makes its deliveries
	return p, revision, err
}

// subjectOf says in a few words what a message is about.
func subjectOf(m *alerts.Message) string {
	if len(m.Items) == 0 {
		return fmt.Sprintf("%d firings", m.Fired)
	}
	one := &m.Items[0]
	about := cmp.Or(one.Class, one.Text)
	if one.Cause.OfProject() {
		about = one.Project
	}
	text := string(one.Cause) + ": " + about
	return strings.ToValidUTF8(text[:min(len(text), maxSubject)], "")
}

func (o *Outbox) progressOf(ctx context.Context, rule string) (p progress, revision uint64, err error) {
	text, revision, err := bucket.KV(o.cfg.Progress).Get(ctx, rule)
	if errors.Is(err, bucket.ErrNotFound) {
		return progress{}, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return progress{}, 0, fmt.Errorf("read how far rule %s is told: %w", rule, err)
	}
	return p, revision, nil
}

// putProgress returns the revision of what it has written in place of that of the revision.
func (o *Outbox) putProgress(ctx context.Context, rule string, p progress, revision uint64) (uint64, error) {
	text, err := json.Marshal(p)
	if err == nil {
		revision, err = bucket.KV(o.cfg.Progress).Put(ctx, rule, text, revision)
	}
	if err != nil {
		return 0, fmt.Errorf("note how far rule %s is told: %w", rule, err)
	}
	return revision, nil
}
