package standby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
)

// markPause is how often the mark is written. It is asked for only when the log was
// put back to an older state and ClickHouse is away, both; what the log took in the
// last seconds before is then found out when ClickHouse is back.
const markPause = 5 * time.Second

// Mark is how far a log reached.
type Mark struct {
	// Log tells one log from another: when it was made, in Unix nanoseconds.
	Log int64 `json:"log"`
	// Last is the sequence of its last fact.
	Last uint64 `json:"last"`
}

// ReadMark reads the mark in the file; the zero Mark when there is none.
func ReadMark(path string) (Mark, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, nil
	}
	var m Mark
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return Mark{}, fmt.Errorf("read how far the log reached from %s: %w", path, err)
	}
	return m, nil
}

// writeMark replaces the file, so that there is always a whole one.
func writeMark(path string, m Mark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write how far the log reached: %w", err)
	}
	if err := datadir.WriteFile(path, string(text)+"\n"); err != nil {
		return fmt.Errorf("write how far the log reached: %w", err)
	}
	return nil
}

// Marker keeps the mark.
type Marker struct {
	path    string
	ask     func(ctx context.Context) (Mark, error)
	written Mark
	work    background.Runner
}

// KeepMark writes the mark into the file from now on. ask says how far the log
// reaches.
func KeepMark(path string, ask func(ctx context.Context) (Mark, error), logger *slog.Logger) *Marker {
	m := &Marker{path: path, ask: ask}
	m.work.Start(background.Loop{
		Do: m.write, Every: markPause, Failed: background.Tell(logger.Warn, "the mark of the log is not kept"),
	}.Run)
	return m
}

func (m *Marker) write(ctx context.Context) error {
	now, err := m.ask(ctx)
	if err != nil || now == m.written {
		return err
	}
	if err := writeMark(m.path, now); err != nil {
		return err
	}
	m.written = now
	return nil
}

// Stop writes the mark once more.
func (m *Marker) Stop(ctx context.Context) error {
	if err := m.work.Stop(ctx); err != nil {
		return err
	}
	return m.write(ctx)
}
