//go:build linux

package engine_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/engine"
)

// BenchmarkStartStop says how long both embedded engines take to start and to
// stop, and what they need when nothing happens.
func BenchmarkStartStop(b *testing.B) {
	dir := b.TempDir()
	var starting, stopping time.Duration
	for b.Loop() {
		begin := time.Now()
		e, err := engine.Start(b.Context(), config(b, dir))
		if err != nil {
			b.Fatal(err)
		}
		starting += time.Since(begin)
		pid, _ := e.EmbeddedClickHouse()
		b.ReportMetric(residentMiB(b, pid, "VmRSS:"), "child-rss-MiB")
		b.ReportMetric(residentMiB(b, pid, "RssAnon:"), "child-anon-MiB")
		b.ReportMetric(residentMiB(b, os.Getpid(), "VmRSS:"), "parent-rss-MiB")
		begin = time.Now()
		stop(b, e)
		stopping += time.Since(begin)
	}
	b.ReportMetric(float64(starting.Milliseconds())/float64(b.N), "start-ms/op")
	b.ReportMetric(float64(stopping.Milliseconds())/float64(b.N), "stop-ms/op")
}

func residentMiB(b *testing.B, pid int, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == field {
			kib, err := strconv.ParseFloat(words[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatalf("there is no %s for process %d", field, pid)
	return 0
}
