package main

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
// works harder. An embedded ClickHouse is in the same container and takes up to
// 1.5 GB, so it gets the larger part.
const (
	memoryShareAlone    = 0.8
	memoryShareEmbedded = 0.4
	minMemoryLimit      = 128 << 20
)

// limitMemory sets Go's soft memory limit from the memory of the container or the
// machine, unless GOMEMLIMIT is set. The limit makes the garbage collector run before
// the kernel kills the process for want of memory.
func limitMemory(environ []string, embedded bool, logger *slog.Logger) {
	if _, set := lookup(environ, "GOMEMLIMIT"); set {
		return
	}
	total := availableMemory(os.ReadFile)
	if total <= 0 {
		return
	}
	share := memoryShareAlone
	if embedded {
		share = memoryShareEmbedded
	}
	limit := max(minMemoryLimit, int64(float64(total)*share))
	debug.SetMemoryLimit(limit)
	logger.Debug("soft memory limit set", "bytes", limit, "of", total)
}

// availableMemory is the smallest limit for this process, in bytes: that of its cgroup
// (version 2, then 1) or the machine's memory. 0 when none is known.
func availableMemory(readFile func(string) ([]byte, error)) int64 {
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

// lookup finds a variable in an environment.
func lookup(environ []string, name string) (value string, ok bool) {
	for _, entry := range environ {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value, true
		}
	}
	return "", false
}
