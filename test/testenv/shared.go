package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/errata-log/errata/engine"
)

// sharedClickHouse is the embedded ClickHouse of this process.
var sharedClickHouse shared

// shared is one embedded ClickHouse for all tests that run at the same time. The
// first test starts it and the last one stops it, so that the leak check of a
// package finds nothing. Main keeps it between tests.
type shared struct {
	mu    sync.Mutex
	users int
	kept  bool
	ch    *engine.ClickHouse // nil while stopped

	dir     string
	unclaim func() error
}

func (s *shared) acquire(ctx context.Context, t testing.TB) *engine.ClickHouse {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		if err := s.start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.users++
	return s.ch
}

func (s *shared) start(ctx context.Context) error {
	// The library first, because a new machine does not have it.
	library, err := engine.FindLibrary("")
	if err != nil {
		return err
	}
	binary, err := buildEngine(ctx)
	if err != nil {
		return err
	}
	sweep(filepath.Join(os.TempDir(), tempPrefix))
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return fmt.Errorf("testenv: %w", err)
	}
	release, err := claim(dir)
	if err != nil {
		return fmt.Errorf("testenv: %w", err)
	}
	data := filepath.Join(dir, "data")
	if err := sow(data); err != nil {
		return errors.Join(fmt.Errorf("testenv: copy the empty tables: %w", err), release(), os.RemoveAll(dir))
	}
	ch, err := engine.StartClickHouse(ctx, engine.ClickHouseConfig{
		// The reader may read the databases with this prefix.
		Database:     databasePrefix,
		DataDir:      data,
		RunDir:       filepath.Join(dir, "run"),
		EngineBinary: binary,
		Library:      library,
		Logger:       quiet(),
	})
	if err != nil {
		return errors.Join(err, release(), os.RemoveAll(dir))
	}
	s.ch, s.dir, s.unclaim = ch, dir, release
	return nil
}

func (s *shared) release(t testing.TB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 || s.kept {
		return
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// keep keeps the engine running between tests, until stopKept.
func (s *shared) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = true
}

func (s *shared) stopKept() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = false
	return s.stop()
}

func (s *shared) stop() error {
	if s.ch == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := errors.Join(s.ch.Stop(ctx), s.unclaim(), os.RemoveAll(s.dir))
	s.ch = nil
	return err
}
