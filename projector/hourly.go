package projector

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/hourly_checkpoint.sql
	sqlHourlyCheckpoint string
	//go:embed sql/hourly_counted.sql
	sqlHourlyCounted string
	//go:embed sql/insert_hourly.sql
	sqlInsertHourly string
)

// HourlyCheckpoint reads the last sequence whose events are in the table hourly. It
// is never less than the checkpoint of the records, because hourly is written
// first.
func (s *Store) HourlyCheckpoint(ctx context.Context) (uint64, error) {
	return one[uint64](ctx, s, "read how far the hours are counted", sqlHourlyCheckpoint, clickhouse.Named("shard", s.shardKey().String()))
}

// HourlyCounted reads how many events were counted in hourly, with those that it
// has dropped by age. Hourly is written first, so fewer events than in a checkpoint
// that was read before mean that parts of hourly are gone.
func (s *Store) HourlyCounted(ctx context.Context) (events uint64, err error) {
	return one[uint64](ctx, s, "read how many events the hours hold", sqlHourlyCounted, clickhouse.Named("shard", s.shardKey().String()))
}

// hourlyRows are rows of the table hourly, column by column.
type hourlyRows struct {
	book, signature []string
	id              []uint64
	hour            []time.Time
	level           []string
	count, sequence []uint64
}

func (t *hourlyRows) add(book string, signature errata.Signature, id errata.Position, h hourCount, sequence uint64) {
	t.book = append(t.book, book)
	t.signature = append(t.signature, string(signature[:]))
	t.id = append(t.id, uint64(id))
	t.hour = append(t.hour, time.Unix(h.hour*int64(time.Hour/time.Second), 0))
	t.level = append(t.level, h.level.String())
	t.count = append(t.count, h.count)
	t.sequence = append(t.sequence, sequence)
}

// hourlyOf collects what a batch adds to hourly; the last row is that of the
// checkpoint. Without events there are no rows.
func hourlyOf(changes []change, key errata.Signature, to uint64) *hourlyRows {
	t := &hourlyRows{}
	var events uint64
	for i := range changes {
		c := &changes[i]
		for _, h := range c.hours {
			t.add(c.key.book.String(), c.key.signature, c.hoursOf, h, 0)
			events += h.count
		}
	}
	if events > 0 {
		t.add(checkpointBook, key, 0, hourCount{count: events}, to)
	}
	return t
}

// writeHourly inserts the rows. The token lets only one insert after the checkpoint
// from count. After an error the insert may have happened.
func (s *Store) writeHourly(ctx context.Context, t *hourlyRows, from uint64, salt int) error {
	batch, err := s.conn.PrepareBatch(once(ctx, "hourly "+token(s.shard, from, salt)), sqlInsertHourly)
	if err == nil {
		defer batch.Close()
		err = appendColumns(batch, t.book, t.signature, t.id, t.hour, t.level, t.count, t.sequence)
	}
	if err == nil {
		err = batch.Send()
	}
	if err != nil {
		return fmt.Errorf("insert the hours after %d: %w", from, err)
	}
	return nil
}

// addHours writes what the batch adds to hourly, and returns when it is known to be
// there. ErrRaceLost says that another projector was first.
func (c *committer) addHours(ctx context.Context, changes []change, to uint64) error {
	rows := hourlyOf(changes, c.p.store.shardKey(), to)
	if len(rows.book) == 0 || to <= c.hourlyTo {
		return nil
	}
	err := settle(ctx, c, c.hourlyTo, to, func(salt int) error {
		return c.p.store.writeHourly(ctx, rows, c.hourlyTo, salt)
	}, func(ctx context.Context) (uint64, error) {
		return untilAnswered(ctx, c.p, c.p.store.HourlyCheckpoint)
	}, func(at uint64) error {
		return fmt.Errorf("the hours are counted up to %d, not %d or %d: %w", at, c.hourlyTo, to, ErrRaceLost)
	})
	if err == nil {
		c.hourlyTo = to
	}
	return err
}
