package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/failpoint"
)

const (
	// factsAhead is how many facts the reader may be ahead of the fold; the bytes
	// are bounded by the pull.
	factsAhead = 64
)

// session folds from a checkpoint on until an error. It has all state that may be
// wrong after an error, so that the next session begins with new state.
type session struct {
	p         *Projector
	committer *committer
	catchUp   *catchUp
	window    *window
	files     *windowFiles // of the ids in the window, nil for none
	start     Checkpoint
	rolled    rolledTo       // what the rollups held when the session began
	recording recording      // at the last folded fact
	budget    budget         // likewise, without Spent, which the committer has
	rules     *alertRules    // likewise
	until     uint64         // the last fact to fold, 0 for no end
	newer     error          // why the reader has ended, set before it hands over FactNewer
	scratch   []byte         // decompressed events of the current block
	held      *eventlog.Fact // begins the next batch, because it must not be in this one

	facts   chan eventlog.Fact
	batches chan *batch   // unbuffered: a batch takes facts until the committer takes it
	hurry   chan struct{} // capacity 1: commit without a pause
}

// errUntil: the session has folded the last fact that it was to fold.
var errUntil = errors.New("folded as far as asked")

// session reads the checkpoint and folds from there until ctx ends or an error. The
// error is errUntil after the fact until was committed; 0 is for no end.
func (p *Projector) session(ctx context.Context, until uint64) error {
	cp, log, err := p.begin(ctx)
	if err != nil {
		return err
	}
	if until != 0 && cp.Sequence >= until {
		p.tell(Status{Checkpoint: cp})
		return errUntil
	}
	rolled, err := p.store.rolledTo(ctx)
	if err != nil {
		return err
	}
	known, err := p.store.present(ctx)
	if err != nil {
		return err
	}
	// If the checkpoint has moved while known was read, known may lack records that
	// exist at cp and were removed after it.
	if now, err := p.store.Checkpoint(ctx); err != nil {
		return err
	} else if now.Row != cp.Row {
		return fmt.Errorf("checkpoint is row %d, not %d: %w", now.Row, cp.Row, ErrRaceLost)
	}
	totals, err := p.totals(ctx, cp)
	if err != nil {
		return err
	}
	lacks := cp.Row == 0 && log.First > 1 || p.cfg.Elsewhere && cp.Sequence+1 < log.First
	if lacks && !p.lossAccepted.Load() {
		return ErrHistoryLost
	}
	copies, err := p.store.hasCopies(ctx)
	if err != nil {
		return err
	}
	rules, err := p.rulesAt(ctx, cp.Sequence)
	if err != nil {
		return err
	}
	p.tell(Status{Checkpoint: cp})
	files, ids := p.openWindowFiles(cp), newWindow(maxWindowIDs, cp.WindowTime)
	from := files.load(ids, cp.readFrom(log.First), cp.Sequence)
	reader, err := eventlog.NewReaderUntil(ctx, p.cfg.Log, from, until)
	if err != nil {
		return err
	}
	defer reader.Close()
	s := &session{
		p: p, committer: newCommitter(p, cp, totals, rolled, known), window: ids, files: files, start: cp,
		catchUp: p.beginCatchUp(), rolled: rolled, recording: recording{off: cp.RecordingOff}, budget: cp.Budget, rules: rules, until: until,
		facts: make(chan eventlog.Fact, factsAhead), batches: make(chan *batch), hurry: make(chan struct{}, 1),
	}
	s.budget.Spent = ""
	s.committer.copies = copies
	defer s.committer.cache.close()
	return s.run(ctx, reader)
}

// begin is position. It also fills a log that has lost its end while the service
// ran.
func (p *Projector) begin(ctx context.Context) (Checkpoint, eventlog.State, error) {
	cp, log, err := p.position(ctx)
	if err == nil && log.Last < cp.Sequence && !p.cfg.Quiet {
		err = p.fill(ctx, log.Last+1, cp.Sequence)
	}
	return cp, log, err
}

// run runs the goroutines of the session. The first error ends all of them.
func (s *session) run(ctx context.Context, reader *eventlog.Reader) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.read(ctx, reader) })
	group.Go(func() error { return s.fold(ctx) })
	group.Go(func() error { return s.commit(ctx) })
	group.Go(func() error { return s.committer.writeSteps(ctx) })
	group.Go(func() error { return s.files.run(ctx) })
	return group.Wait()
}

// read hands the facts to the fold. In the place of a gap it hands over one
// FactGap.
func (s *session) read(ctx context.Context, reader *eventlog.Reader) error {
	for {
		f, err := reader.Next(ctx)
		if gap, ok := errors.AsType[*eventlog.GapError](err); ok {
			f = eventlog.Fact{Sequence: gap.To, Kind: eventlog.FactGap, Appended: time.Now()}
			err = s.p.pass(ctx, gap.From, gap.To, gap.Why)
		}
		if errors.Is(err, eventlog.ErrNewer) {
			f, s.newer, err = eventlog.Fact{Kind: eventlog.FactNewer}, err, nil // the facts before it come first
		}
		if err != nil {
			return err
		}
		failpoint.Reach(failpoint.Fetched)
		select {
		case s.facts <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
		if f.Kind == eventlog.FactNewer {
			return nil
		}
	}
}

const (
	// behindFacts is how many facts of the log must be behind a batch, so that it is filled up
	// before the committer may take it: fewer and fuller batches cost less.
	behindFacts = 200
	// fillPatience is how long that may take, for a log that gives its facts slowly. Half a
	// million events are folded in less.
	fillPatience = time.Second
)

// fold folds facts into the open batch until the committer takes the batch.
func (s *session) fold(ctx context.Context) error {
	b, patience := s.newBatch(nil), time.NewTimer(fillPatience)
	defer patience.Stop()
	for {
		in, out := s.facts, s.batches
		switch b.cut = s.held != nil; {
		case b.followed() || s.last(b):
			in = nil
			s.hurryUp()
		case b.nothing() || b.fills:
			out = nil
		}
		select {
		case f := <-in:
			begins := b.nothing()
			if err := s.foldFact(ctx, b, f); err != nil {
				return err
			}
			if begins && !b.nothing() {
				patience.Reset(fillPatience)
			}
			b.fills = (begins || b.fills) && (s.until != 0 || f.Pending >= behindFacts)
		case <-patience.C:
			b.fills = false
		case out <- b:
			if s.last(b) || b.end != nil {
				s.facts = nil
			}
			b = s.newBatch(b)
			s.p.open.Store(0)
			if err := s.foldHeld(ctx, b); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hurryUp lets the committer take the batch without a pause: it takes no more facts. It
// is full, or its sender waits for a command, or it has the last fact to fold.
func (s *session) hurryUp() {
	select {
	case s.hurry <- struct{}{}:
	default:
	}
}

// last says whether the batch ends with the last fact to fold.
func (s *session) last(b *batch) bool { return s.until != 0 && b.last >= s.until }

// foldHeld applies the fact that was held back to the next batch.
func (s *session) foldHeld(ctx context.Context, b *batch) error {
	f := s.held
	if s.held = nil; f == nil {
		return nil
	}
	return s.foldFact(ctx, b, *f)
}

// foldFact applies one fact to the batch, or holds it back for the next one.
// Facts up to the checkpoint only refill the window of ids.
func (s *session) foldFact(ctx context.Context, b *batch, f eventlog.Fact) error {
	if f.Sequence <= s.start.Sequence && f.Kind != eventlog.FactNewer {
		return s.refill(ctx, f)
	}
	if b.empty() {
		b.clockBefore = s.window.clock
	}
	switch f.Kind {
	case eventlog.FactEvents:
		if folded, err := s.foldBlock(ctx, b, f); err != nil || !folded {
			return err
		}
	case eventlog.FactCommand:
		if b.mayJoin() {
			s.held = &f
			return nil
		}
		b.command = &f
		s.trimWindow(f)
	case eventlog.FactSetting:
		if !s.moveBudget(b, s.budget.after(f)) || !s.moveRules(b, s.rules.after(f)) {
			s.held = &f
			return nil
		}
		s.recording = s.recording.after(f)
	case eventlog.FactSignIn:
		// The records have nothing of a sign-in.
	case eventlog.FactTick:
		b.tick(f, s.window.clock)
	case eventlog.FactNote:
		// The records have nothing of a note.
	case eventlog.FactGap:
		// The facts are missing in every replay of this log too.
		s.files.gap()
	case eventlog.FactNewer:
		b.end = s.newer
		return nil
	case eventlog.FactUnknown:
		// It is not ours, or of a newer version that lets older ones leave it out, as every
		// replay does too.
	}
	b.recording, b.budget = s.recording, s.budget
	if b.empty() {
		b.since = f.Appended
		s.p.open.Store(f.Appended.UnixNano())
	}
	if f.Kind != eventlog.FactEvents && f.Kind != eventlog.FactGap {
		s.files.passed(f.Sequence)
	}
	b.last = f.Sequence
	b.windowFrom, b.windowTime = s.window.from(f.Sequence + 1)
	s.p.metrics.pending.Set(float64(f.Pending))
	return s.files.keep(ctx, b.windowFrom)
}

// foldBlock counts the events of a block. folded is false when the batch must be committed
// first.
func (s *session) foldBlock(ctx context.Context, b *batch, f eventlog.Fact) (folded bool, err error) {
	block, err := eventlog.DecodeBlock(f.Data, s.scratch)
	if errors.Is(err, eventlog.ErrNewer) {
		b.end = fmt.Errorf("read fact %d: %w", f.Sequence, err)
		return false, nil
	}
	if err != nil {
		// It stays on the log, and every replay leaves it out too.
		s.p.cfg.Logger.Error("a block of the log cannot be read and is left out", "sequence", f.Sequence, "error", err)
		if err := s.p.pass(ctx, f.Sequence, f.Sequence, eventlog.GapUnreadable); err != nil {
			return false, err
		}
		b.poison++
		s.files.gap()
		return true, nil
	}
	s.scratch = block.Raw()
	if s.budget.Hour == 0 { // an older version without a budget wrote the checkpoint
		s.budget.Hour = s.window.clock / millisPerHour
	}
	if !s.moveBudget(b, s.budget.at(block.Received)) {
		s.held = &f
		return false, nil
	}
	b.fold(s.window, f.Sequence, block, s.recording)
	s.files.added(f.Sequence, block)
	return true, nil
}

// moveBudget puts the budget in force. It returns false when the batch already has
// events of a budget with another rule.
func (s *session) moveBudget(b *batch, next budget) bool {
	if len(b.order) > 0 && !next.sameRule(s.budget) {
		return false
	}
	s.budget, b.budget = next, next
	return true
}

// moveRules puts the rules of alerts in force. It returns false when the batch already has
// events or ticks of other rules.
func (s *session) moveRules(b *batch, next *alertRules) bool {
	if next != s.rules && len(b.order)+len(b.ticks) > 0 {
		return false
	}
	s.rules, b.rules = next, next
	return true
}

// newBatch makes the batch behind another one, nil for none.
func (s *session) newBatch(before *batch) *batch {
	b := newBatch(s.rolled)
	b.rules = s.rules
	b.first.known, b.met = s.committer.known, s.committer.met
	if before != nil {
		b.first.before = before.first.kept
		b.reserve(len(before.first.kept)) // before.order is the committer's by now
	}
	return b
}

// commit writes batches one after another.
func (s *session) commit(ctx context.Context) error {
	defer func() { s.p.tellMerges(s.catchUp.sessionEnds(ctx)) }()
	defer s.committer.running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer, pace := time.NewTimer(0), newPace()
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.hurry:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-s.committer.late():
			if err := s.committer.flush(ctx); err != nil {
				return err
			}
			timer.Reset(0)
		case b := <-s.batches:
			if b.empty() {
				return cmp.Or(s.committer.awaitWriter(ctx), b.end)
			}
			began := time.Now()
			s.p.tellMerges(s.catchUp.before(ctx, b))
			if err := s.committer.commit(ctx, b); err != nil {
				return fmt.Errorf("commit facts up to %d: %w", b.last, err)
			}
			timer.Reset(pace.rest(time.Since(began)))
			if b.end != nil {
				return cmp.Or(s.committer.awaitWriter(ctx), b.end)
			}
			if s.last(b) {
				return cmp.Or(s.committer.awaitWriter(ctx), errUntil)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
