package memory

import (
	"io/fs"
	"log/slog"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// Size sets what the environment does not set.
func TestSize(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before); room = nil })
	set := map[string]bool{"GOMEMLIMIT": true, "GOGC": true}
	size := func(embedded bool) (limit, heap int64) {
		sized := Size(func(name string) (string, bool) { return "", set[name] }, embedded, slog.New(slog.DiscardHandler))
		if (sized.Engine > 0) != embedded {
			t.Errorf("%d bytes for the engine, embedded %v", sized.Engine, embedded)
		}
		if follows := sized.heap != (limits{}); follows == set["GOMEMLIMIT"] {
			t.Errorf("the limit follows what lives: %v, and the environment sets it: %v", follows, set["GOMEMLIMIT"])
		}
		return debug.SetMemoryLimit(-1), int64(len(room))
	}
	if limit, room := size(true); limit != math.MaxInt64 || room != 0 {
		t.Errorf("limit %d, room %d, though the environment sets both", limit, room)
	}
	set["GOMEMLIMIT"], set["GOGC"] = false, false
	alone, _ := size(false)
	embedded, got := size(true)
	if alone == math.MaxInt64 || embedded < minLimit || embedded > alone {
		t.Errorf("limit %d alone and %d beside ClickHouse", alone, embedded)
	}
	if want := embedded / roomOfLimit / 2; got != want {
		t.Errorf("room %d, want %d", got, want)
	}
	var stats runtime.MemStats
	runtime.GC()
	if runtime.ReadMemStats(&stats); int64(stats.NextGC) < 2*got {
		t.Errorf("the heap is collected at %d bytes, with room for %d", stats.NextGC, 2*got)
	}
}

func TestLimitsOf(t *testing.T) {
	for _, c := range []struct {
		total       int64
		embedded    bool
		least, most int64
	}{
		{0, true, 0, 0}, {64 << 20, true, minLimit, minLimit}, {1000 << 20, true, 400 << 20, 400 << 20}, {500 << 20, false, 400 << 20, 400 << 20},
		{10_000 << 20, true, usualLimit, 4000 << 20}, {10_000 << 20, false, usualLimit, 8000 << 20},
	} {
		if got, want := limitsOf(c.total, c.embedded), (limits{c.least, c.most}); got != want {
			t.Errorf("of %d, embedded %v: %d, want %d", c.total, c.embedded, got, want)
		}
	}
}

// What the engine and the heap may take fits into a small container together.
func TestEngineOf(t *testing.T) {
	for total, want := range map[int64]int64{
		64 << 20: minEngine, 512 << 20: minEngine, 1 << 30: 512 << 20, 4 << 30: maxEngine, 64 << 30: maxEngine,
	} {
		got := engineOf(total)
		if got != want {
			t.Errorf("of %d: %d, want %d", total, got, want)
		}
		if both := got + limitsOf(total, true).least; total >= 512<<20 && both > total*9/10+1<<20 {
			t.Errorf("of %d the engine and the heap may take %d", total, both)
		}
	}
}

func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal:        8000 kB\nMemFree:         1 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing known", nil, 0},
		{"machine", map[string]string{"/proc/meminfo": meminfo}, 8000 << 10},
		{"container, version 2", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "4096\n"}, 4096},
		{"version 2 without a limit", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "max\n"}, 8000 << 10},
		{"container, version 1", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "2048\n"}, 2048},
		{"version 1 without a limit", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8000 << 10},
		{"service of systemd", map[string]string{
			"/proc/meminfo":     meminfo,
			"/proc/self/cgroup": "0::/system.slice/errata.service\n",
			"/sys/fs/cgroup/system.slice/errata.service/memory.max": "1024\n",
		}, 1024},
		{"slice of version 1", map[string]string{
			"/proc/self/cgroup":                             "5:cpu:/a\n4:memory:/b\n",
			"/sys/fs/cgroup/memory/b/memory.limit_in_bytes": "512\n",
		}, 512},
		{"unreadable numbers", map[string]string{"/proc/meminfo": "MemTotal: lots\n", "/sys/fs/cgroup/memory.max": "-1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := available(func(path string) ([]byte, error) {
				if text, ok := c.files[path]; ok {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			})
			if got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
