// Package memory sizes the Go heap, and the engine beside it, by the memory that the process
// may have: that of its container or of the machine. It must not know what the memory is
// used for.
package memory

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// The share of the memory that the Go heap may take before the garbage collector
// works harder. An embedded ClickHouse is in the same container and may take half of
// it. The rest is for what neither counts: stacks, code, buffers of the kernel.
const (
	shareAlone    = 0.8
	shareEmbedded = 0.4
	shareEngine   = 0.5
	minLimit      = 128 << 20
	// usualLimit keeps the service and an embedded ClickHouse at about 1 GB under a flood of new
	// problems. ClickHouse takes 400 to 440 MB of that. Without this limit both take 1.5 GB. The
	// flood is folded no faster then, but a replay of it is a quarter faster. The limit is higher
	// only when what lives needs more; see follow.
	usualLimit = 600 << 20
	// An engine with less than minEngine refuses inserts, and with more than maxEngine it
	// gains nothing.
	minEngine = 256 << 20
	maxEngine = 2 << 30
)

// roomOfLimit is the part of the limit that is added to the heap before it is collected. A
// service under load has 40 to 80 MB that live, and would collect them 20 times a second.
const roomOfLimit = 8

// room is never written, so it takes no memory of the machine. The collector counts it as
// living, and so lets twice as much gather between its runs.
var room []byte

// Sized is the memory that a process may have.
type Sized struct {
	// Engine is what an engine in the same container may take, in bytes, 0 when nothing is
	// known.
	Engine int64
	heap   limits // without any where the environment says what holds
}

// Size sets Go's soft memory limit, and gives the garbage collector room below it, unless
// the environment has GOMEMLIMIT or GOGC. The limit makes the collector run before the
// kernel kills the process for want of memory. embedded says that ClickHouse is in the same
// container.
func Size(lookup func(name string) (string, bool), embedded bool, logger *slog.Logger) (s Sized) {
	total := available(os.ReadFile)
	heap := limitsOf(total, embedded)
	if heap.most == 0 {
		return s
	}
	if embedded {
		s.Engine = engineOf(total)
	}
	if _, set := lookup("GOMEMLIMIT"); !set {
		s.heap = heap
		debug.SetMemoryLimit(heap.least)
		logger.Debug("soft memory limit set", "bytes", heap.least, "most", heap.most)
	}
	if _, set := lookup("GOGC"); !set {
		room = make([]byte, heap.least/roomOfLimit/2)
	}
	return s
}

// limits are bounds of the soft limit of the heap, in bytes.
type limits struct{ least, most int64 }

// limitsOf returns the limits for a process that may have total bytes of memory. There are none
// when total is not known.
func limitsOf(total int64, embedded bool) limits {
	share := shareAlone
	if embedded {
		share = shareEmbedded
	}
	if total <= 0 {
		return limits{}
	}
	most := max(minLimit, int64(float64(total)*share))
	return limits{least: min(usualLimit, most), most: most}
}

// engineOf is what an engine may take of so much memory.
func engineOf(total int64) int64 {
	return min(maxEngine, max(minEngine, int64(float64(total)*shareEngine)))
}

// available is the smallest limit for this process, in bytes: that of its cgroup
// (version 2, then 1) or the machine's memory. 0 when none is known.
func available(readFile func(string) ([]byte, error)) int64 {
	smallest := int64(math.MaxInt64)
	for _, path := range append(cgroupFiles(readFile), "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes") {
		text, err := readFile(path)
		if err != nil {
			continue
		}
		// Version 2 says "max" and version 1 a number near 2^63 for "no limit".
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 {
			smallest = min(smallest, n)
		}
	}
	if text, err := readFile("/proc/meminfo"); err == nil {
		if total := memTotal(text); total > 0 {
			smallest = min(smallest, total)
		}
	}
	if smallest == math.MaxInt64 {
		return 0
	}
	return smallest
}

// cgroupFiles are the files with the limits of this process's cgroup. Outside a
// container it is below the root of the hierarchy.
func cgroupFiles(readFile func(string) ([]byte, error)) []string {
	text, err := readFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var files []string
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) != 3:
		case fields[0] == "0":
			files = append(files, filepath.Join("/sys/fs/cgroup", fields[2], "memory.max"))
		case fields[1] == "memory":
			files = append(files, filepath.Join("/sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"))
		}
	}
	return files
}

// memTotal reads the line "MemTotal:  8011764 kB" of /proc/meminfo.
func memTotal(text []byte) int64 {
	_, total, _ := strings.Cut(string(text), "MemTotal:")
	var kib int64
	if _, err := fmt.Sscan(total, &kib); err != nil {
		return 0
	}
	return kib << 10
}
