package standby

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
)

// AlarmName is that of the alarm that stands until everything is up.
const AlarmName = "clickhouse-away"

// maxPause is the longest wait between two tries: whoever brings ClickHouse back
// should not have to wait for the records.
const maxPause = 2 * time.Second

// Alarms take what somebody must know.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config says what to bring up.
type Config struct {
	// Steps do all of it, one behind the other. They are done again after an error,
	// and must go on from what is done already. After damage they begin with the
	// one that met it: what comes before, such as holding the merges, is not to get
	// in the way of who mends the files.
	Steps []func(ctx context.Context) error
	// Begin is called once all steps are done; nil for nothing.
	Begin func()
	// Mark is kept from now on, nil for none.
	Mark *Marker
	// Away says whether an error means that ClickHouse is not there, or cannot
	// work at the moment. Any other one at the first try ends the start.
	Away func(err error) bool
	// Damaged says whether an error means that ClickHouse cannot read its files.
	// That does not end the start either: see [Phase.WhenUpOrDamaged]. nil for
	// never.
	Damaged func(err error) bool
	Alarms  Alarms
	// Logger is slog.Default() when nil.
	Logger *slog.Logger
}

// Phase is the bringing up. It is safe for concurrent use.
type Phase struct {
	cfg    Config
	up     chan struct{} // closed when all is up
	trying background.Runner
	from   int // the first step of the next try

	mu      sync.Mutex
	why     error    // of the last try, nil before the first and after one that succeeded
	damaged bool     // a try has met damage
	after   []func() // see WhenUp
	// see WhenUpOrDamaged
	mending []func()
}

// Start tries once, and goes on in the background if ClickHouse is away. It comes
// before the log is opened for writing: while the records are not up, a log that
// is shorter than its mark is filled up to there. The context bounds the start
// only. An error is one that trying again does not heal, and nothing is left
// behind then.
func Start(ctx context.Context, cfg Config) (*Phase, error) {
	if len(cfg.Steps) == 0 || cfg.Away == nil || cfg.Alarms == nil {
		return nil, errors.New("standby: Steps, Away and Alarms are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	if cfg.Damaged == nil {
		cfg.Damaged = func(error) bool { return false }
	}
	if cfg.Begin == nil {
		cfg.Begin = func() {}
	}
	p := &Phase{cfg: cfg, up: make(chan struct{})}
	err := p.try(ctx)
	if err != nil && (ctx.Err() != nil || !cfg.Away(err) && !cfg.Damaged(err)) {
		return nil, err
	}
	if err == nil {
		cfg.Begin()
		close(p.up)
	} else {
		p.failed(err)
		if cfg.Damaged(err) {
			cfg.Logger.Warn("files of ClickHouse are damaged: events are taken, and become records when that is mended", "error", err)
		} else {
			cfg.Logger.Warn("ClickHouse is away: events are taken, and become records when it is back", "error", err)
		}
		p.trying.Start(p.run)
	}
	if cfg.Mark == nil {
		return p, nil
	}
	if !p.Up() { // else the projector has seen to that
		if err := cfg.Mark.pad(ctx); err != nil {
			return nil, errors.Join(err, p.Stop(ctx))
		}
	}
	cfg.Mark.keep()
	return p, nil
}

// try does the steps.
func (p *Phase) try(ctx context.Context) error {
	for at := p.from; at < len(p.cfg.Steps); at++ {
		if err := p.cfg.Steps[at](ctx); err != nil {
			if p.from = 0; p.cfg.Damaged(err) {
				p.from = at
			}
			return err
		}
	}
	return nil
}

// run tries until all is up.
func (p *Phase) run(ctx context.Context) {
	for tries := (background.Pauses{First: maxPause / 16, Most: maxPause}).Begin(); tries.Wait(ctx); {
		err := p.try(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if p.cfg.Mark != nil && !p.damaged { // what was made again is of this log
				p.cfg.Mark.tellUsedTwice()
			}
			p.cfg.Begin()
			p.rise()
			p.cfg.Alarms.Clear(AlarmName)
			p.cfg.Logger.Info("ClickHouse is there, and the records follow the log")
			return
		}
		p.failed(err)
	}
}

// rise says that everything is up, to those who waited for it first of all.
func (p *Phase) rise() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why = nil
	close(p.up)
	for _, do := range append(p.after, p.mending...) {
		do()
	}
	p.after, p.mending = nil, nil
}

// WhenUp calls a function once everything is up, which may be at once, and not at
// all after Stop. It must not call the Phase.
func (p *Phase) WhenUp(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Up() {
		do()
		return
	}
	p.after = append(p.after, do)
}

// WhenUpOrDamaged calls a function once, as WhenUp does, or as soon as a try has
// met damage: for whoever mends it, after which trying again goes on.
func (p *Phase) WhenUpOrDamaged(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Up() || p.damaged {
		do()
		return
	}
	p.mending = append(p.mending, do)
}

// failed notes why it is not up, and tells it.
func (p *Phase) failed(err error) {
	damaged := p.cfg.Damaged(err)
	p.mu.Lock()
	p.why = err
	if damaged {
		p.damaged = true
		for _, do := range p.mending {
			do()
		}
		p.mending = nil
	}
	p.mu.Unlock()
	if damaged {
		p.cfg.Alarms.Raise(AlarmName, fmt.Sprintf("ClickHouse cannot read its files since the start: events are taken, no records are shown (%v)", err),
			"look at the alarm parts-broken: what the log still holds is mended without a hand, and the rest happens by itself")
		return
	}
	if p.cfg.Away(err) {
		p.cfg.Alarms.Raise(AlarmName, fmt.Sprintf("ClickHouse does not answer since the start: events are taken, no records are shown (%v)", err),
			"bring ClickHouse back, the rest happens by itself. Where the embedded one names a damaged file: stop the service and put DATA/clickhouse "+
				"back from a backup, or move it away, and the records are made again as far as the log goes back")
		return
	}
	p.cfg.Alarms.Raise(AlarmName, fmt.Sprintf("ClickHouse answers and cannot be used: %v", err),
		"events are taken meanwhile; look at ERRATA_CLICKHOUSE_DSN and at the database that it names, then restart the service")
}

// Up says whether everything is up.
func (p *Phase) Up() bool {
	select {
	case <-p.up:
		return true
	default:
		return false
	}
}

// Err is nil when everything is up, else what to tell whoever asks for something
// that needs ClickHouse. Kind: store_unavailable.
func (p *Phase) Err() error {
	if p.Up() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	message := "ClickHouse was away when the service started and is waited for. Events are taken."
	if p.cfg.Damaged(p.why) {
		message = "Files of ClickHouse were damaged when the service started and are being mended. Events are taken."
	}
	return &errata.Error{Kind: errata.KindStoreUnavailable, Message: message, RetryAfter: maxPause, Err: p.why}
}

// Stop ends the trying. It may be called more than once.
func (p *Phase) Stop(ctx context.Context) error { return p.trying.Stop(ctx) }
