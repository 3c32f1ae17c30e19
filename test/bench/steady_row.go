package main

import (
	"context"
	"fmt"
	"math"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/proc"
)

const (
	// steadyBatch events, each of another record, are appended each steadyStep.
	steadyBatch = 1000
	steadyStep  = 100 * time.Millisecond
	// steadyParts and steadyMemory are the limits for the engine.
	steadyParts, steadyMemory = 100.0, 1.5e9
	megabyte                  = 1e6
)

// steadyState counts records of a stock again, ten thousand a second, and watches
// the engine's parts and memory meanwhile. The stock is changed.
func (b *bench) steadyState() error { return b.eachStock("steady", b.steadyOf) }

func (b *bench) steadyOf(ctx context.Context, f *folding, c corpus, _ filled) error {
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: f.log})
	if err != nil {
		return err
	}
	began := time.Now()
	most, err := f.keepCounting(ctx, appender, c, began.Add(b.steadyFor))
	if err != nil {
		return err
	}
	ended := time.Now()
	if err := f.visible(ctx); err != nil {
		return err
	}
	behind := time.Since(ended)
	each := fmt.Sprintf("%s, 10 batches of %d a second", sizeName(c.n), steadyBatch)
	row{name: each, ours: most.parts, unit: "parts", limit: steadyParts,
		note: fmt.Sprintf("at most, in %v; %s s until visible at the end", b.steadyFor, figure(behind.Seconds()))}.write(b.out)
	row{name: "memory of ClickHouse meanwhile", ours: most.memory / megabyte, unit: "MB", limit: steadyMemory / megabyte, note: "at most"}.write(b.out)
	return appender.Close(ctx)
}

// peak is the maximum of the engine's parts and memory.
type peak struct{ parts, memory float64 }

// keepCounting appends a batch at each step until the end, and asks the engine
// once a second.
func (f *folding) keepCounting(ctx context.Context, appender *eventlog.Appender, c corpus, end time.Time) (most peak, err error) {
	tick := time.NewTicker(steadyStep)
	defer tick.Stop()
	for batch := 0; time.Now().Before(end); batch++ {
		if err := appender.Append(ctx, c.seenAgain(batch)); err != nil {
			return most, err
		}
		if batch%int(time.Second/steadyStep) == 0 {
			now, err := f.engineNow(ctx)
			if err != nil {
				return most, err
			}
			most = peak{max(most.parts, now.parts), max(most.memory, now.memory)}
		}
		<-tick.C
	}
	return most, nil
}

func (f *folding) engineNow(ctx context.Context) (now peak, err error) {
	var parts uint64
	err = f.engines.ClickHouse().QueryRow(ctx, `SELECT count() FROM system.parts
		WHERE active AND database = currentDatabase() AND table = 'records'`).Scan(&parts)
	if err != nil {
		return now, fmt.Errorf("count the parts: %w", err)
	}
	pid, ok := f.engines.EmbeddedClickHouse()
	if !ok {
		return peak{parts: float64(parts)}, nil
	}
	memory, err := proc.ResidentBytes(pid)
	return peak{float64(parts), float64(memory)}, err
}

// seenAgain is a batch of sightings of different problems: as many of the last
// ten of the corpus as of the ninety before them and the nine hundred before
// those.
func (c corpus) seenAgain(batch int) []errata.Event {
	events := make([]errata.Event, 0, steadyBatch)
	now := time.Now().UTC().Truncate(time.Millisecond)
	for seen := make(map[int]bool, steadyBatch); len(events) < steadyBatch; {
		k := batch<<20 + len(seen)
		i := c.n - int(math.Pow(float64(c.n), share(k, ofSample)))
		for seen[i] {
			i = (i + c.n - 1) % c.n
		}
		seen[i] = true
		e := c.event(i)
		e.ID, e.Time, e.Received = eventID(i, maxSightings+1+batch), now, now
		events = append(events, e)
	}
	return events
}
