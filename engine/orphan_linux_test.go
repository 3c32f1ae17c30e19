package engine_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/engine"
)

// TestStartWhileAnOrphanDies: a service that starts right after another was killed waits
// until the child of the killed one no longer holds the data.
func TestStartWhileAnOrphanDies(t *testing.T) {
	cfg := config(t, t.TempDir())
	first, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(cfg.Dir.Join("clickhouse/status"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	const dying = time.Second
	begin := time.Now()
	time.AfterFunc(dying, func() { held.Close() })
	second, err := engine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < dying {
		t.Errorf("it started after %s, while the data was held for %s: the test holds nothing", took, dying)
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
