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

// markPause is how often the mark is written. The mark is used only when the log
// was restored to an older state and ClickHouse is away too. What the log took in
// the last seconds before is then found out when ClickHouse is back.
const markPause = 5 * time.Second

// Mark says how far a log reached.
type Mark struct {
	// Log is when the log was made, in Unix nanoseconds. Every log has another one.
	Log int64 `json:"log"`
	// Last is the sequence of its last fact.
	Last uint64 `json:"last"`
}

// ReadMark reads the mark from the file; it is the zero Mark when there is no file.
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

// writeMark replaces the file as a whole: a crash leaves the old or the new one.
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

// MarkConfig says where the mark is kept and how to reach the log.
type MarkConfig struct {
	File string
	// Reach reads how far the log reaches now.
	Reach func(ctx context.Context) (Mark, error)
	// Fill appends empty facts to the log, up to the sequence to.
	Fill func(ctx context.Context, from, to uint64) error
	// Folded is the checkpoint of the records. It is called after all steps.
	Folded func() uint64
	Alarms Alarms
	Logger *slog.Logger
}

// Marker keeps the mark up to date. It also keeps a log that was restored to an
// older state from using sequences twice. [Start] begins it.
type Marker struct {
	cfg    MarkConfig
	before Mark // of the last run
	// atOpen is the last sequence of the log before this run appended anything.
	atOpen  uint64
	written Mark
	work    background.Runner
}

// OpenMark reads the mark of the last run. Call it before the log is appended to.
func OpenMark(ctx context.Context, cfg MarkConfig) (*Marker, error) {
	m := &Marker{cfg: cfg}
	var err error
	if m.before, err = ReadMark(cfg.File); err != nil {
		cfg.Logger.Warn("the mark of the log cannot be read and is written again", "error", err)
	}
	now, err := m.now(ctx)
	if m.atOpen = now.Last; m.before.Log == now.Log {
		m.atOpen = max(now.Last, m.before.Last)
	}
	return m, err
}

func (m *Marker) now(ctx context.Context) (Mark, error) {
	now, err := m.cfg.Reach(ctx)
	if err != nil {
		return Mark{}, fmt.Errorf("mark how far the log reaches: %w", err)
	}
	return now, nil
}

// pad fills the log up to the mark.
func (m *Marker) pad(ctx context.Context) error {
	now, err := m.now(ctx)
	if err != nil || now.Log != m.before.Log || now.Last >= m.before.Last {
		return err
	}
	m.cfg.Logger.Warn("log is shorter than it was, filling it up", "log", now.Last, "was", m.before.Last)
	return m.cfg.Fill(ctx, now.Last+1, m.before.Last)
}

// tellUsedTwice raises an alarm when new events have got sequences that the records
// had passed already: the log was restored to an older state, and the mark did not
// show that when the log was opened.
func (m *Marker) tellUsedTwice() {
	folded := m.cfg.Folded()
	if folded <= m.atOpen {
		return
	}
	m.cfg.Alarms.Raise("sequences-used-twice", fmt.Sprintf(
		"the log is older than the records and ClickHouse was away at the start: events that were taken as facts %d to %d are on the log and are not shown", m.atOpen+1, folded),
		"errata replay --force makes the records from this log, without what only the newer log had; or put the newer log back, with the service stopped. The alarm ends with the next start")
}

// keep begins to write the mark every markPause.
func (m *Marker) keep() {
	m.work.Start(background.Loop{
		Do: m.write, Every: markPause, Failed: background.Tell(m.cfg.Logger.Warn, "the mark of the log is not kept"),
	}.Run)
}

func (m *Marker) write(ctx context.Context) error {
	now, err := m.now(ctx)
	if err != nil || now == m.written {
		return err
	}
	if err := writeMark(m.cfg.File, now); err != nil {
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
