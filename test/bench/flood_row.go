package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/load"
)

const (
	// floodingProject is the project of a new service, which floods.
	floodingProject = 1
	// floodSlowdown is how many times slower the second project may become.
	floodSlowdown = 2
)

// flood measures how a project that sends new problems as fast as it can, until
// all are taken, slows down another project: first at the default limits, then with
// those of the flooding project switched off. The latter has no limit of time: who
// switches limits off gives the machine away.
func (b *bench) flood() error {
	if err := b.withService("flood", app.DefaultOptions(), b.floodAtLimits); err != nil {
		return fmt.Errorf("at the default limits: %w", err)
	}
	if err := b.withService("flood-free", app.DefaultOptions(), b.floodFreely); err != nil {
		return fmt.Errorf("without limits: %w", err)
	}
	return nil
}

// flooded is a flood, and the times of the second project before it and during it.
type flooded struct {
	*flood
	beside         *neighbour
	before, during times
}

func (b *bench) floodAtLimits() error {
	ctx := context.Background()
	f, err := b.flooded(ctx, "flood", app.DefaultOptions().NewRecordsPerHour)
	if err != nil {
		return err
	}
	alike, flatOut, err := b.besideNullSink(ctx, f)
	if err != nil {
		return err
	}
	for _, w := range neighbourly {
		r := f.slowed("flood, "+w.name, w.of)
		r.limit = floodSlowdown * millis(w.of(f.before), 99)
		r.note += fmt.Sprintf("; beside as many requests to a null sink p99 %s, beside as many as that takes %s",
			figure(millis(w.of(alike), 99)), figure(millis(w.of(flatOut), 99)))
		r.write(b.out)
	}
	fmt.Fprintf(b.out, "  before: %v\n  during: %v\n  as many requests to a null sink: %v\n  as many as that takes: %v\n",
		f.before.load, f.during.load, alike.load, flatOut.load)
	return nil
}

func (b *bench) floodFreely() error {
	ctx := context.Background()
	path := fmt.Sprintf("/api/v1/admin/projects/%d", floodingProject)
	limits := map[string]any{"limits": map[string]int{"events_per_minute": 0, "new_records_per_hour": 0}}
	if err := b.admin(ctx, http.MethodPatch, path, limits, &struct{}{}); err != nil {
		return err
	}
	f, err := b.flooded(ctx, "flood without limits", 0)
	if err != nil {
		return err
	}
	for _, w := range neighbourly {
		f.slowed("without limits, "+w.name, w.of).write(b.out)
	}
	fmt.Fprintf(b.out, "  before: %v\n  during: %v\n", f.before.load, f.during.load)
	return nil
}

// flooded measures the second project before the flood, and during it until the
// last of its events is in the list. Then it checks what both projects have.
func (b *bench) flooded(ctx context.Context, name string, budget int) (*flooded, error) {
	n, err := b.newNeighbour(ctx)
	if err != nil {
		return nil, fmt.Errorf("the second project: %w", err)
	}
	f, err := b.newFlood(ctx)
	if err != nil {
		return nil, err
	}
	all := &flooded{flood: f, beside: n}
	calm := func(ctx context.Context, span time.Duration) func() error {
		return func() error { background.Wait(ctx, span); return nil }
	}
	if _, err := n.during(calm(ctx, b.floodFor/4)); err != nil { // warm
		return nil, err
	}
	if all.before, err = n.during(calm(ctx, b.floodFor)); err != nil {
		return nil, err
	}
	began := time.Now()
	var folded time.Duration
	all.during, err = n.during(func() error {
		err := f.send(ctx)
		f.took = time.Since(began)
		err = errors.Join(err, b.caughtUp(ctx))
		folded = time.Since(began) - f.took
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := b.checkFlood(ctx, all, budget, began)
	if err != nil {
		return nil, err
	}
	row{name: name, ours: float64(f.taken.Load()) / f.took.Seconds(), unit: "taken/s",
		note: fmt.Sprintf("%d new problems taken in %s s, in the list %s s later; %d refused (429), %d had no turn (503); %s",
			f.taken.Load(), figure(f.took.Seconds()), figure(folded.Seconds()), f.refused.Load(), f.overloaded.Load(), found)}.write(b.out)
	return all, nil
}

// besideNullSink measures the second project while the generator sends as many
// requests a second as in the flood, but to a null sink, and while it sends as many
// as that takes. So it shows what the generator costs the second project, and what
// any work does that fills the processors.
func (b *bench) besideNullSink(ctx context.Context, f *flooded) (alike, flatOut times, err error) {
	sink, stop, err := load.NullSink()
	if err != nil {
		return alike, flatOut, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	req := f.requests[0]
	alike, err = f.beside.during(func() error {
		ctx, cancel := context.WithTimeout(ctx, b.floodFor)
		defer cancel()
		return steadyTo(ctx, sink, req, f.perSecond(), func(int, time.Time) {})
	})
	if err != nil {
		return alike, flatOut, err
	}
	flatOut, err = f.beside.during(func() error {
		_, err := load.Strict(sink, req, floodConns, b.floodFor)
		return err
	})
	return alike, flatOut, err
}

// slowed is the row of the p99 during the flood.
func (f *flooded) slowed(name string, of func(times) *hdrhistogram.Histogram) row {
	before, during := of(f.before), of(f.during)
	return row{name: name, ours: millis(during, 99), unit: "ms p99",
		note: fmt.Sprintf("%.2f times the %s before; p50 %s before, %s during; of %d and %d requests",
			millis(during, 99)/millis(before, 99), figure(millis(before, 99)), figure(millis(before, 50)), figure(millis(during, 50)),
			before.TotalCount(), during.TotalCount())}
}
