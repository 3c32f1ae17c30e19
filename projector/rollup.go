package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

var (
	//go:embed sql/rollup_checkpoint.sql
	sqlRollupCheckpoint string
	//go:embed sql/rollup_counted.sql
	sqlRollupCounted string
	//go:embed sql/insert_hourly.sql
	sqlInsertHourly string
	//go:embed sql/insert_deployments.sql
	sqlInsertDeployments string
)

// A rollup is a table beside the records with sums of their events, or with the events
// themselves. Its batches have a checkpoint of their own in the same block, and are written before those of
// the records. So it is never behind the records; events that it holds already are
// not added when they are folded again after a crash.
const (
	// RollupHours has the events by hour and level.
	RollupHours = "hourly"
	// RollupDeployments has them by environment and release.
	RollupDeployments = "deployments"
	// RollupOccurrences has each of them.
	RollupOccurrences = "occurrences"
)

// Rollups are the names of the rollups.
var Rollups = []string{RollupHours, RollupDeployments, RollupOccurrences}

// rolledTo says for each rollup up to which sequence it holds the events.
type rolledTo struct{ hourly, deployments, occurrences, firings, activity uint64 }

// InRollup is how many events the rollup must hold at this checkpoint, with those
// that it has dropped by age.
func (c Checkpoint) InRollup(table string) uint64 {
	switch table {
	case RollupDeployments:
		return c.Deployed
	case RollupOccurrences:
		return c.Occurred
	default:
		return c.Events
	}
}

// rollupCheckpoint reads the last sequence whose events are in the rollup.
func (s *Store) rollupCheckpoint(ctx context.Context, table string) (uint64, error) {
	return one[uint64](ctx, s, "read how far "+table+" is counted", sqlRollupCheckpoint,
		clickhouse.Named("table", table), clickhouse.Named("shard", s.shardKey().String()))
}

// rolledTo reads how far all rollups are.
func (s *Store) rolledTo(ctx context.Context) (to rolledTo, err error) {
	for table, sequence := range map[string]*uint64{
		RollupHours: &to.hourly, RollupDeployments: &to.deployments, RollupOccurrences: &to.occurrences, tableFirings: &to.firings, tableActivity: &to.activity,
	} {
		if *sequence, err = s.rollupCheckpoint(ctx, table); err != nil {
			return to, err
		}
	}
	return to, nil
}

// RollupCounted reads how many events were counted in the rollup, with those that
// it has dropped by age. It is written first, so fewer events than in a checkpoint
// that was read before mean that parts of it are gone.
func (s *Store) RollupCounted(ctx context.Context, table string) (events uint64, err error) {
	return one[uint64](ctx, s, "read how many events "+table+" holds", sqlRollupCounted,
		clickhouse.Named("table", table), clickhouse.Named("shard", s.shardKey().String()))
}

// rollupBatch is what one batch adds to a rollup.
type rollupBatch struct {
	table, insert string
	rows          int
	// fill puts the rows into the insert; it may be called again.
	fill     func(driver.Batch) error
	settings clickhouse.Settings // beside those of every insert; nil for none
}

// writeRollup inserts the rows. The token lets only one insert after the checkpoint
// from count. After an error the insert may have happened.
func (s *Store) writeRollup(ctx context.Context, b *rollupBatch, from uint64, salt int) (*receipt, error) {
	ctx, receipt := once(ctx, b.table+" "+token(s.shard, from, salt), b.settings)
	batch, err := s.prepareBatch(ctx, b.insert)
	if err == nil {
		defer batch.Close()
		err = b.fill(batch)
	}
	if err == nil {
		err = batch.Send()
	}
	if err != nil {
		return nil, fmt.Errorf("insert what %s counts after %d: %w", b.table, from, err)
	}
	return receipt, nil
}

// addRollup writes the batch, and returns when it is known to be there. ErrRaceLost
// says that another projector was first.
func (c *committer) addRollup(ctx context.Context, b *rollupBatch, done *uint64, to uint64) error {
	if b.rows == 0 || to <= *done {
		return nil
	}
	err := settle(ctx, c, *done, to, func(salt int) (*receipt, error) {
		return c.p.store.writeRollup(ctx, b, *done, salt)
	}, func(ctx context.Context) (uint64, error) {
		return untilAnswered(ctx, c.p, func(ctx context.Context) (uint64, error) { return c.p.store.rollupCheckpoint(ctx, b.table) })
	}, func(at uint64) error {
		return fmt.Errorf("%s is counted up to %d, not %d or %d: %w", b.table, at, *done, to, ErrRaceLost)
	})
	if err == nil {
		*done = to
	}
	return err
}
