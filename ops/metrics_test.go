package ops

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// gathered are the metrics of a collector by name.
func gathered(t *testing.T, c prometheus.Collector) map[string]*dto.Metric {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*dto.Metric{}
	for _, family := range families {
		found[family.GetName()] = family.GetMetric()[0]
	}
	return found
}

func TestDisk(t *testing.T) {
	got := gathered(t, NewDisk(disks{}.DiskRoom))
	if free, total := got["errata_disk_free_bytes"].GetGauge().GetValue(), got["errata_disk_total_bytes"].GetGauge().GetValue(); free != 5 || total != 10 {
		t.Errorf("%v of %v bytes are free, want 5 of 10", free, total)
	}
	gone := func() (free, total int64, err error) { return 0, 0, errors.New("gone") }
	if got := gathered(t, NewDisk(gone)); len(got) > 0 {
		t.Errorf("a disk that does not answer has %v", got)
	}
}

// slow is an appender that takes its time, by the clock of the test.
type slow func() error

func (s slow) Append(context.Context, []errata.Event) error { return s() }

// TestAppendSeconds: refused appends count too, and those of a log that does not say how
// large it is.
func TestAppendSeconds(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	var answer error
	log := NewLog(slow(func() error { now = now.Add(30 * time.Millisecond); return answer }),
		func(context.Context) (eventlog.State, error) { return eventlog.State{}, errors.New("frozen") }, func() time.Time { return now })
	_ = log.Append(t.Context(), nil)
	answer = errata.Errorf(errata.KindLogFull, "full")
	_ = log.Append(t.Context(), nil)
	got := gathered(t, log)
	seconds := got["errata_log_append_seconds"].GetHistogram()
	if seconds.GetSampleCount() != 2 || seconds.GetSampleSum() != 0.06 {
		t.Errorf("%d appends in %v s, want 2 in 0.06 s", seconds.GetSampleCount(), seconds.GetSampleSum())
	}
	if len(got) != 1 {
		t.Errorf("metrics are %v, want the speed alone", got)
	}
}
