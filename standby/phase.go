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

// AlarmName is the name of the alarm that lasts until everything is up.
const AlarmName = "clickhouse-away"

// maxPause is the longest pause between two tries. It is short, so that the records
// are up soon after ClickHouse is back.
const maxPause = 2 * time.Second

// Alarms shows alarms to the operator.
type Alarms interface {
	Raise(name, detail, hint string)
	Clear(name string)
}

// Config says what to bring up.
type Config struct {
	// Steps are done in their order. After an error all of them are done again, so
	// they must accept what is done already. After damage, the next try begins with
	// the step that found it: the steps before it, such as stopping merges, would
	// disturb the mending of the files.
	Steps []func(ctx context.Context) error
	// Begin is called after all steps are done; nil for nothing.
	Begin func()
	// Mark is the mark to keep up to date, nil for none.
	Mark *Marker
	// Away says whether an error means that ClickHouse is not there, or cannot
	// work at the moment. At the first try, any other error ends the start.
	Away func(err error) bool
	// Damaged says whether an error means that ClickHouse cannot read its files,
	// which does not end the start: see [Phase.WhenUpOrDamaged]. nil for never.
	Damaged func(err error) bool
	Alarms  Alarms
	// Logger is slog.Default() when nil.
	Logger *slog.Logger
}

// Phase brings up what Config says. It is safe for concurrent use.
type Phase struct {
	cfg    Config
	up     chan struct{} // closed when everything is up
	trying background.Runner
	from   int // the first step of the next try

	mu      sync.Mutex
	why     error    // of the last try, nil before the first and after one that succeeded
	damaged bool     // a try has found damage
	after   []func() // see WhenUp
	// see WhenUpOrDamaged
	mending []func()
}

// Start tries once, and retries in the background when ClickHouse is away. Call it
// before the log is appended to: when the records are not up, Start fills a log
// that is shorter than its mark. The context is for the first try only. An error is
// one that a retry does not heal; nothing runs after it.
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
	if !p.Up() { // else the projector has filled the log
		if err := cfg.Mark.pad(ctx); err != nil {
			return nil, errors.Join(err, p.Stop(ctx))
		}
	}
	cfg.Mark.keep()
	return p, nil
}

// try does the steps once.
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

// run tries until everything is up or ctx ends.
func (p *Phase) run(ctx context.Context) {
	for tries := (background.Pauses{First: maxPause / 16, Most: maxPause}).Begin(); tries.Wait(ctx); {
		err := p.try(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			if p.cfg.Mark != nil && !p.damaged { // mended records were made from this log
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

// rise notes that everything is up, and calls the functions that wait for it.
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

// WhenUp calls a function once, when everything is up, which may be at once. After
// Stop it may never be called. The function must not call the Phase.
func (p *Phase) WhenUp(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Up() {
		do()
		return
	}
	p.after = append(p.after, do)
}

// WhenUpOrDamaged is WhenUp for a function that begins mending: it is called also
// when a try has found damage. The Phase goes on trying.
func (p *Phase) WhenUpOrDamaged(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Up() || p.damaged {
		do()
		return
	}
	p.mending = append(p.mending, do)
}

// failed notes the error of a try and raises the alarm.
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

// Err is nil when everything is up, else the error for a request that needs
// ClickHouse. Kind: store_unavailable.
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

// Stop ends the retries. It may be called more than once.
func (p *Phase) Stop(ctx context.Context) error { return p.trying.Stop(ctx) }
