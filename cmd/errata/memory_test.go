package main

import (
	"io/fs"
	"testing"
)

func TestAvailableMemory(t *testing.T) {
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
			got := availableMemory(func(path string) ([]byte, error) {
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
