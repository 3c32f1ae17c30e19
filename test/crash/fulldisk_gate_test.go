//go:build linux && gate

package crash

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRealFullDiskHealsByItself is TestFullDiskHealsByItself with a small disk
// for the log that another program fills. It needs root to mount the disk.
func TestRealFullDiskHealsByItself(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	s := newService(t)
	dir := filepath.Join(s.data, "nats")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Fatalf("mount a small disk, which needs root: %v", err)
	}
	t.Cleanup(func() {
		s.kill()
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	ref := &referee{accepted: map[string][]sent{}}
	o, stop := load(t, s, ref, seed)
	filler := filepath.Join(dir, "of another program")
	healTimes(t, s, ref, rand.New(rand.NewPCG(seed, 0)), func(full bool) {
		if !full {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			return
		}
		fill(t, filler)
	})
	stop()
	compare(t, s, ref)
	compareOwned(t, s, o)
	compareReplay(t, s)
}

// fill writes a file until the disk is full to the last byte.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 64<<10)
	for {
		_, err := file.Write(block)
		if errors.Is(err, unix.ENOSPC) && len(block) == 1 {
			return
		}
		if errors.Is(err, unix.ENOSPC) {
			block = block[:1]
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
