package ops

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

func TestArrivals(t *testing.T) {
	var a arrivals
	at := time.Unix(1_800_000_000, 0)
	expect := func(now time.Time, want float64) {
		t.Helper()
		if got := a.perSecond(now); got != want {
			t.Errorf("%v later: %v a second, want %v", now.Sub(at), got, want)
		}
	}
	expect(at, 0)
	a.add(at, 60)
	a.add(at.Add(900*time.Millisecond), 60)
	expect(at.Add(999*time.Millisecond), 0) // the second has not ended
	expect(at.Add(time.Second), 2)
	a.add(at.Add(time.Second), 6000)
	expect(at.Add(60*time.Second), 102)
	expect(at.Add(61*time.Second), 100)
	expect(at.Add(62*time.Second), 0)
	a.add(at.Add(61*time.Second), 30) // in the slot of the first
	expect(at.Add(62*time.Second), 0.5)
}

// disks are engines that know the disk and not the tables.
type disks struct{}

func (disks) DiskRoom() (free, total int64, err error)             { return 5, 10, nil }
func (disks) TableBytes(context.Context) (bytes uint64, err error) { return 0, errors.New("frozen") }

func TestFigures(t *testing.T) {
	registry := prometheus.NewRegistry()
	for name, counts := range map[string]map[string]float64{
		"errata_client_lost_total":     {"network_error": 3, "queue_overflow": 4},
		"errata_client_left_out_total": {"event_processor": 84}, // duplicates are no loss
		"errata_events_dropped_total":  {"switched_off": 5, "unreadable": 6},
		"errata_refused_events_total":  {"key_limit": 3, "project_limit": 4, "noise_rule": 8},
	} {
		counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name}, []string{"reason"})
		registry.MustRegister(counter)
		for reason, n := range counts {
			counter.WithLabelValues(reason).Add(n)
		}
	}
	now := time.Unix(1_800_000_000, 0)
	log := NewLog(nil, func(context.Context) (eventlog.State, error) {
		return eventlog.State{Last: 12, Bytes: 20, MaxBytes: -1}, nil
	}, func() time.Time { return now })
	log.arrivals.add(now.Add(-time.Second), 1000)
	meter := Meter{
		Log: log, Engines: disks{}, Metrics: registry,
		Projection: NewProjection(func() projector.Status {
			return projector.Status{Checkpoint: projector.Checkpoint{Sequence: 9}, Lag: 1234567 * time.Microsecond}
		}, log),
	}
	got, err := json.Marshal(meter.Read(t.Context()))
	const want = `{"events_per_second":16.67,"lag_facts":3,"lag_ms":1234,"log_bytes":20,"log_max_bytes":null,` +
		`"disk_free_bytes":5,"disk_total_bytes":10,"clickhouse_bytes":null,"lost_at_senders":7,"dropped_by_switch":5,"refused_by_limit":7,"dropped_by_noise":8}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
