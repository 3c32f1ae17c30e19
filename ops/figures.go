package ops

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Figures are measurements of the service. nil means that the answer did not
// come in time.
type Figures struct {
	// EventsPerSecond is what this node took over the last minute.
	EventsPerSecond float64 `json:"events_per_second"`
	// LagFacts is how many facts of the log are not in the records, each a block
	// of events or a command; LagMS how long the oldest has waited, in milliseconds.
	LagFacts *uint64 `json:"lag_facts"`
	LagMS    int64   `json:"lag_ms"`
	// LogBytes is the size of the log and LogMaxBytes its limit, nil for none.
	LogBytes    *uint64 `json:"log_bytes"`
	LogMaxBytes *uint64 `json:"log_max_bytes"`
	// DiskFree and DiskTotal are of the file system of the data folder, in bytes.
	DiskFree  *int64 `json:"disk_free_bytes"`
	DiskTotal *int64 `json:"disk_total_bytes"`
	// ClickHouseBytes is what the tables have on disk.
	ClickHouseBytes *uint64 `json:"clickhouse_bytes"`
	// LostAtSenders counts the errors that senders told this node they lost,
	// DroppedBySwitch the events that came while recording was off,
	// RefusedByLimit, as a lower bound, those that were refused because their
	// key or project had sent too many, DroppedByNoise those that noise rules of
	// their project dropped; since the start of the service.
	LostAtSenders   *uint64 `json:"lost_at_senders"`
	DroppedBySwitch *uint64 `json:"dropped_by_switch"`
	RefusedByLimit  *uint64 `json:"refused_by_limit"`
	DroppedByNoise  *uint64 `json:"dropped_by_noise"`
}

// Engines know what is kept on the disk, in bytes; *engine.Engines does.
type Engines interface {
	DiskRoom() (free, total int64, err error)
	TableBytes(ctx context.Context) (uint64, error)
}

// Meter takes the [Figures]. All fields are required.
type Meter struct {
	Log        *Log
	Projection *Projection
	Engines    Engines
	// Metrics are the service's own, from which losses are read.
	Metrics prometheus.Gatherer
}

// Read takes all figures, in at most [ProbeTimeout].
func (m *Meter) Read(ctx context.Context) Figures {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	status := m.Projection.status()
	f := Figures{
		EventsPerSecond: math.Round(m.Log.arrivals.perSecond(m.Log.now())*100) / 100, LagMS: status.Lag.Milliseconds(),
	}
	var pending sync.WaitGroup
	pending.Go(func() { // each writes fields of its own, and ends with ctx
		if state, err := m.Log.state(ctx); err == nil {
			lag := behind(state, status)
			f.LagFacts, f.LogBytes = &lag, &state.Bytes
			if limit := uint64(max(state.MaxBytes, 0)); limit > 0 {
				f.LogMaxBytes = &limit
			}
		}
	})
	pending.Go(func() {
		if bytes, err := m.Engines.TableBytes(ctx); err == nil {
			f.ClickHouseBytes = &bytes
		}
	})
	if free, total, err := m.Engines.DiskRoom(); err == nil {
		f.DiskFree, f.DiskTotal = &free, &total
	}
	m.countLosses(&f)
	pending.Wait()
	return f
}

// countLosses counts the events that did not come into the records.
func (m *Meter) countLosses(f *Figures) {
	families, err := m.Metrics.Gather()
	if err != nil {
		return
	}
	var atSenders, bySwitch, byLimit, byNoise uint64
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			value := uint64(metric.GetCounter().GetValue())
			switch family.GetName() {
			case "errata_client_lost_total":
				atSenders += value
			case "errata_refused_events_total":
				if hasReason(metric.GetLabel(), "noise_rule") {
					byNoise += value
				} else {
					byLimit += value
				}
			case "errata_events_dropped_total":
				if hasReason(metric.GetLabel(), "switched_off") {
					bySwitch += value
				}
			}
		}
	}
	f.LostAtSenders, f.DroppedBySwitch, f.RefusedByLimit, f.DroppedByNoise = &atSenders, &bySwitch, &byLimit, &byNoise
}

type label interface {
	GetName() string
	GetValue() string
}

// hasReason says whether the label reason of a metric has the value.
func hasReason[L label](labels []L, value string) bool {
	return slices.ContainsFunc(labels, func(l L) bool { return l.GetName() == "reason" && l.GetValue() == value })
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
