package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

const (
	// stockChunk is how many events are appended at a time.
	stockChunk = 2000
	// moveChunk is how many records one status command moves.
	moveChunk = 1000
	// settleLimit is how long the engine may take to finish its merges.
	settleLimit = 10 * time.Minute
	settlePoll  = 200 * time.Millisecond
)

// folding is a log and a projector at work on it, without a service.
type folding struct {
	engines   *engine.Engines
	log       eventlog.Log
	projector *projector.Projector
	commander *eventlog.Commander
	stop      func() error // of the engines
}

// folding starts engines on the data in the folder and a projector on them.
func (b *bench) folding(dir string) (_ *folding, err error) {
	e, stop, err := b.engines(dir)
	if err != nil {
		return nil, err
	}
	f := &folding{
		engines: e, stop: stop,
		log: eventlog.Log{NATS: e.NATS.Conn(), JetStream: e.JetStream(), Stream: migrations.StreamName("")},
	}
	if f.projector, err = projector.New(context.Background(), projector.Config{Log: f.log, ClickHouse: e.ClickHouse(), Own: true}); err != nil {
		return nil, errors.Join(err, stop())
	}
	if f.commander, err = eventlog.NewCommander(eventlog.CommanderConfig{Log: f.log, Answers: f.projector.Store()}); err != nil {
		return nil, errors.Join(err, stop())
	}
	f.projector.Start()
	return f, nil
}

// close stops all of it; the folder stays.
func (f *folding) close() error {
	return errors.Join(f.commander.Close(), f.projector.Stop(context.Background()), f.stop())
}

// visible waits until all that is on the log is in the projection.
func (f *folding) visible(ctx context.Context) error {
	_, err := f.commander.Do(ctx, eventlog.CommandBarrier, nil)
	return err
}

// filled is what filling with a corpus took.
type filled struct {
	events int
	took   time.Duration // from the first append until the last record was visible
}

// fill appends the corpus to the log while the projector folds, and returns
// when all of it is visible.
func (f *folding) fill(ctx context.Context, c corpus) (filled, error) {
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: f.log})
	if err != nil {
		return filled{}, err
	}
	var done filled
	began := time.Now()
	events := make([]errata.Event, 0, stockChunk+maxSightings)
	flush := func() error {
		done.events += len(events)
		err := appender.Append(ctx, events)
		events = events[:0]
		return err
	}
	for i := range c.n + lateBy {
		if i < c.n {
			events = c.appendSightings(events, i)
		}
		if k := i - lateBy; k >= 0 && c.late(k) {
			events = append(events, c.again(k, c.sightings(k)-1, c.event(k)))
		}
		if len(events) >= stockChunk {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
	if len(events) > 0 {
		if err := flush(); err != nil {
			return done, err
		}
	}
	if err := f.visible(ctx); err != nil {
		return done, err
	}
	done.took = time.Since(began)
	return done, appender.Close(ctx)
}

// appendSightings appends the sightings of problem i that are not late.
func (c corpus) appendSightings(events []errata.Event, i int) []errata.Event {
	first, times := c.event(i), c.sightings(i)
	if c.late(i) {
		times--
	}
	for k := range times {
		if k == 0 {
			events = append(events, first)
			continue
		}
		events = append(events, c.again(i, k, first))
	}
	return events
}

// check compares the projection with the corpus.
func (f *folding) check(ctx context.Context, c corpus, done filled) error {
	tally, err := f.projector.Store().Tally(ctx)
	if err != nil {
		return err
	}
	if tally.Records != uint64(c.n) || tally.Count != uint64(done.events) {
		return fmt.Errorf("%d records count %d events, want %d and %d", tally.Records, tally.Count, c.n, done.events)
	}
	return nil
}

// move gives the records the statuses that the corpus says.
func (f *folding) move(ctx context.Context, c corpus) error {
	waiting := map[errata.Status][]string{}
	flush := func(status errata.Status) error {
		if len(waiting[status]) == 0 {
			return nil
		}
		answer, err := f.commander.Do(ctx, eventlog.CommandStatus, eventlog.StatusMove{Signatures: waiting[status], Status: status})
		if err != nil {
			return err
		}
		var changed errata.Changed
		if err := json.Unmarshal(answer, &changed); err != nil {
			return fmt.Errorf("decode the answer to a status move: %w", err)
		}
		if want := uint64(len(waiting[status])); changed.Total() != want {
			return fmt.Errorf("a status move met %d records, want %d", changed.Total(), want)
		}
		waiting[status] = waiting[status][:0]
		return nil
	}
	for i := range c.n {
		status := c.status(i)
		if status == errata.StatusOpen {
			continue
		}
		waiting[status] = append(waiting[status], c.signature(i).String())
		if len(waiting[status]) == moveChunk {
			if err := flush(status); err != nil {
				return err
			}
		}
	}
	return errors.Join(flush(errata.StatusMuted), flush(errata.StatusResolved))
}

// settle waits until the engine merges nothing, so that what is measured next
// is not the load that went before, and then tidies the tables: the service
// comes to that by itself within a minute in which nothing is folded.
func (f *folding) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for quiet := 0; quiet < 5; { // merges follow each other with short pauses
		var merges uint64
		if err := f.engines.ClickHouse().QueryRow(ctx, "SELECT count() FROM system.merges").Scan(&merges); err != nil {
			return fmt.Errorf("look for merges: %w", err)
		}
		if quiet++; merges > 0 {
			quiet = 0
		}
		<-tick.C
	}
	return f.projector.Store().Tidy(ctx)
}

// prefill fills the folder of a service that is started on it afterwards.
func (b *bench) prefill(name string) (err error) {
	f, err := b.folding(filepath.Join(b.dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	ctx := context.Background()
	b.corpus = newCorpus(b.sizes.changed)
	done, err := f.fill(ctx, b.corpus)
	if err != nil {
		return err
	}
	if err := f.check(ctx, b.corpus, done); err != nil {
		return err
	}
	return f.settle(ctx)
}
