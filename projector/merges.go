package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/semaphore"

	"github.com/errata-log/errata/internal/background"
)

var (
	//go:embed sql/merges_stop.sql
	sqlMergesStop string
	//go:embed sql/merges_start.sql
	sqlMergesStart string
	//go:embed sql/merges_running.sql
	sqlMergesRunning string
)

const (
	// endPatience is how long a hold waits for merges that run. They end at their next block
	// of rows, unless ClickHouse hangs in a damaged file.
	endPatience = 30 * time.Second
	// undoPatience bounds the start of merges after a hold that failed.
	undoPatience = 10 * time.Second
)

// endPauses are the pauses between two looks whether the merges have ended.
var endPauses = background.Pauses{First: 5 * time.Millisecond, Most: 200 * time.Millisecond}

// ErrHeld says that a table is not merged because somebody holds its merges.
var ErrHeld = errors.New("the merges of the table are held")

// Merges stops the merges of tables as long as somebody holds them. Nothing else of this
// service stops or starts the merges of live tables. It is safe for concurrent use.
//
// Holds are counted in this process, and ClickHouse knows merges as stopped or not:
//   - ClickHouse forgets stopped merges when it is restarted. The embedded one ends with this
//     process, so no stopped merges outlive it. A hold does not outlive a restart of
//     ClickHouse; [Merges.Hold] and [Merges.Tell] stop the merges again.
//   - Another ClickHouse keeps them stopped when this process is killed, until [Merges.Recover]
//     of the next start.
//   - Services that share a ClickHouse do not know of each other's holds. Merges that one stops
//     are stopped for all, and the first that starts them starts them for all. So only a
//     service that writes its tables alone may depend on a hold.
type Merges struct {
	store *Store
	turn  *semaphore.Weighted // of those who send statements or exchange tables
	// stopped has the tables whose merges may be stopped: a stop was sent, and no start has
	// succeeded since. Who has the turn may use it.
	stopped map[string]bool

	mu      sync.Mutex
	holders map[string]int // by table, without zeros
}

func newMerges(s *Store) *Merges {
	return &Merges{store: s, turn: semaphore.NewWeighted(1), stopped: map[string]bool{}, holders: map[string]int{}}
}

// Merges are those of the tables of this store.
func (s *Store) Merges() *Merges { return s.merges }

// Held says whether somebody holds the merges of the table.
func (m *Merges) Held(table string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.holders[table] > 0
}

// held returns the tables that somebody holds.
func (m *Merges) held() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.holders))
}

// count adds holders to the tables.
func (m *Merges) count(tables []string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, table := range tables {
		if m.holders[table] += n; m.holders[table] == 0 {
			delete(m.holders, table)
		}
	}
}

// Hold stops the merges of the tables, and their mutations. When it returns none of them runs,
// and none begins before release is called. The last release starts them. A release that
// cannot do that returns an error, and [Merges.Tell] does it later. Further calls of release do
// nothing. With an error nothing is held.
func (m *Merges) Hold(ctx context.Context, tables ...string) (release func(context.Context) error, err error) {
	m.count(tables, 1)
	var once sync.Once
	release = func(ctx context.Context) (err error) {
		once.Do(func() {
			m.count(tables, -1)
			err = m.Tell(ctx, tables...)
		})
		return err
	}
	if err = m.Tell(ctx, tables...); err == nil {
		err = m.store.awaitMerges(ctx, tables)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("hold the merges of %s: %w", strings.Join(tables, ", "), err), release(ctx))
	}
	return release, nil
}

// Tell tells ClickHouse again which of these tables are held: it stops the merges of those and
// starts the merges of the others. The same is done for tables whose merges this process has
// stopped.
func (m *Merges) Tell(ctx context.Context, tables ...string) error {
	if err := m.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	all := slices.AppendSeq(slices.Clone(tables), maps.Keys(m.stopped))
	slices.Sort(all)
	var errs []error
	for _, table := range slices.Compact(all) {
		errs = append(errs, m.tell(ctx, table))
	}
	return errors.Join(errs...)
}

// tell is called by who has the turn.
func (m *Merges) tell(ctx context.Context, table string) error {
	if m.Held(table) {
		m.stopped[table] = true // also when there is an error: the answer may be lost
		return m.store.tellMerges(ctx, "stop", sqlMergesStop, table)
	}
	err := m.store.tellMerges(ctx, "start", sqlMergesStart, table)
	if err == nil {
		delete(m.stopped, table)
	}
	return err
}

// Recover is for a start with a ClickHouse that outlives this process: it starts the merges
// that a service which was killed has stopped, of all tables that nobody holds here.
func (m *Merges) Recover(ctx context.Context) error { return m.Tell(ctx, projectionTables...) }

// exchange calls do, which puts the tables of another store in the place of these. In
// ClickHouse a table takes stopped merges along to its new name. So the merges of the other
// tables are stopped first where these are held, and a hold also holds the new table. Merges
// that somebody holds there, and nobody here, are started by the next [Merges.Tell].
func (m *Merges) exchange(ctx context.Context, other *Store, do func() error) error {
	if err := m.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer m.turn.Release(1)
	held := m.held()
	for _, table := range held {
		if err := other.tellMerges(ctx, "stop", sqlMergesStop, table); err != nil {
			return err
		}
	}
	if err := other.awaitMerges(ctx, held); err != nil {
		return err
	}
	for _, table := range other.merges.held() {
		m.stopped[table] = true
	}
	return do()
}

// tellMerges sends a statement about the merges of a table.
func (s *Store) tellMerges(ctx context.Context, what, statement, table string) error {
	if err := s.conn.Exec(ctx, statement, clickhouse.Named("table", table)); err != nil {
		return fmt.Errorf("%s the merges of %s: %w", what, table, err)
	}
	return nil
}

// awaitMerges returns when no merge of the tables runs. ClickHouse tells nobody when a merge
// ends, so it is asked again and again.
func (s *Store) awaitMerges(ctx context.Context, tables []string) error {
	if len(tables) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for tries := endPauses.Begin(); ; {
		running, err := one[uint64](ctx, s, "look for running merges", sqlMergesRunning, clickhouse.Named("tables", tables))
		if err != nil || running == 0 {
			return err
		}
		if !tries.Wait(ctx) {
			return fmt.Errorf("%d merges still run: %w", running, ctx.Err())
		}
	}
}

// tellMerges logs that merges could not be stopped, or not be started. What was not started, the
// self-check starts.
func (p *Projector) tellMerges(err error) {
	if err != nil {
		p.cfg.Logger.Warn("merges of tables were not stopped or not started", "error", err)
	}
}
