package app

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

//go:embed sql/table_bytes.sql
var sqlTableBytes string

// figures measures the service for an operator.
type figures struct {
	arrivals   *arrivals
	log        func(context.Context) (eventlog.State, error)
	projection func() projector.Status
	disk       func() (free, total int64, err error)
	clickhouse driver.Conn
	metrics    prometheus.Gatherer
	now        func() time.Time
}

func (a *App) figures() figures {
	return figures{
		arrivals: &a.log.arrivals, log: a.logState, projection: a.projector.Status,
		disk:       func() (int64, int64, error) { return diskRoom(a.dir.Path()) },
		clickhouse: a.engines.ReadOnlyClickHouse(), metrics: a.options.Registry, now: a.options.Now,
	}
}

// read asks everybody. What does not answer in time has no figure.
func (f figures) read(ctx context.Context) api.Figures {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	status := f.projection()
	all := api.Figures{EventsPerSecond: f.arrivals.perSecond(f.now()), Lag: status.Lag}
	var pending sync.WaitGroup
	pending.Go(func() { // each writes fields of its own, and ends with ctx
		if state, err := f.log(ctx); err == nil {
			lag := uint64(0)
			if state.Last > status.Checkpoint.Sequence {
				lag = state.Last - status.Checkpoint.Sequence
			}
			all.LagFacts, all.LogBytes = &lag, &state.Bytes
			if limit := uint64(max(state.MaxBytes, 0)); limit > 0 {
				all.LogMaxBytes = &limit
			}
		}
	})
	pending.Go(func() {
		if bytes, err := tableBytes(ctx, f.clickhouse); err == nil {
			all.ClickHouseBytes = &bytes
		}
	})
	if free, total, err := f.disk(); err == nil {
		all.DiskFree, all.DiskTotal = &free, &total
	}
	if l, err := f.losses(); err == nil {
		all.LostAtSenders, all.DroppedBySwitch, all.RefusedByLimit = &l.atSenders, &l.bySwitch, &l.byLimit
	}
	pending.Wait()
	return all
}

// tableBytes is what the tables have on disk. It does not wait for the driver,
// which gives a server that is frozen longer than ctx.
func tableBytes(ctx context.Context, conn driver.Conn) (uint64, error) {
	type answer struct {
		bytes uint64
		err   error
	}
	answered := make(chan answer, 1)
	go func() { // ends with the driver's own limit
		var a answer
		a.err = conn.QueryRow(ctx, sqlTableBytes).Scan(&a.bytes)
		answered <- a
	}()
	select {
	case a := <-answered:
		return a.bytes, a.err
	case <-ctx.Done():
		return 0, fmt.Errorf("size of the tables: %w", ctx.Err())
	}
}

// losses are events that did not come into the records: those that senders say
// they dropped, those that were dropped because recording is switched off, and
// those of keys and projects that sent too many.
type losses struct{ atSenders, bySwitch, byLimit uint64 }

// losses are read off the service's own metrics.
func (f figures) losses() (l losses, err error) {
	families, err := f.metrics.Gather()
	if err != nil {
		return l, fmt.Errorf("gather metrics: %w", err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			value := uint64(metric.GetCounter().GetValue())
			switch family.GetName() {
			case "errata_client_lost_total":
				l.atSenders += value
			case "errata_refused_events_total":
				l.byLimit += value
			case "errata_events_dropped_total":
				for _, label := range metric.GetLabel() {
					if label.GetName() == "reason" && label.GetValue() == "switched_off" {
						l.bySwitch += value
					}
				}
			}
		}
	}
	return l, nil
}

// arrivals counts events of the last minute. Its zero value is ready.
type arrivals struct {
	mu sync.Mutex
	// seconds is a ring: a slot counts for the second that it names.
	seconds [arrivalSeconds + 1]struct {
		at int64
		n  uint64
	}
}

const arrivalSeconds = 60

func (a *arrivals) add(now time.Time, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slot := &a.seconds[now.Unix()%int64(len(a.seconds))]
	if slot.at != now.Unix() {
		slot.at, slot.n = now.Unix(), 0
	}
	slot.n += uint64(n)
}

// perSecond is the mean over the last minute, without the second that has not
// ended.
func (a *arrivals) perSecond(now time.Time) float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	var sum uint64
	for _, slot := range a.seconds {
		if age := now.Unix() - slot.at; age >= 1 && age <= arrivalSeconds {
			sum += slot.n
		}
	}
	return float64(sum) / arrivalSeconds
}
