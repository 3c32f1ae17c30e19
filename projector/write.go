package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/eventlog"
)

//go:embed sql/insert_records.sql
var sqlInsertRecords string

// commit is one step of the projection: one insert into the table records.
type commit struct {
	from, to Checkpoint
	changes  []change
	occurred *occurrences // of the events in changes; nil for none
	// decide decides which of the events fire rules of alerts; nil where there are none.
	decide func(ctx context.Context) (decided, error)
	// sweep is the chunk of a cleanup that the step removes, nil for none.
	sweep *sweepChunk
	// command is the sequence of the command that ends with this step, 0 for none.
	command uint64
	answer  eventlog.Answer
	// salt makes another token; see settle.
	salt int
}

// sequence is the last fact whose changes the commit has. A command of several commits
// has not passed the checkpoint before the last of them.
func (c *commit) sequence() uint64 { return max(c.to.Sequence, c.to.Sweep.Sequence) }

// isChunk says whether the commit is only a part of what a command changes. Such a command may
// change all records.
func (c *commit) isChunk() bool { return c.to.Sweep.Sequence != 0 }

// token names the checkpoint that the commit follows. Another projector that
// inserts after the same checkpoint uses the same token, and only one insert
// counts.
func (c *commit) token(shard uint16) string { return token(shard, c.from.Row, c.salt) }

// token names the state of a shard that an insert follows; each salt makes another
// one.
func token(shard uint16, from uint64, salt int) string {
	if salt > 0 {
		return fmt.Sprintf("%d@%d#%d", shard, from, salt)
	}
	return fmt.Sprintf("%d@%d", shard, from)
}

// write inserts the step: records, checkpoint and answer, as one block with the token.
// What must be there before it is written by committer.precede. After an error the
// insert may have happened.
func (s *Store) write(ctx context.Context, c *commit) (*receipt, error) {
	if c.sweep != nil {
		return nil, s.sweepRecords(ctx, c)
	}
	receipt, err := s.writeRecords(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("insert records after checkpoint %d: %w", c.from.Row, err)
	}
	return receipt, nil
}

// settingLateIndex lets inserts leave out an index, which the merges then build:
// the part of a batch is small and fast to scan without it, and the n-grams of a
// thousand new records take a fifth of the time of their insert.
const settingLateIndex, lateIndex = "exclude_materialize_skip_indexes_on_insert", "ix_texts"

// lateIndexes are the indexes that a cleanup leaves out: its rows, a hundred
// thousand at a time, only cancel others, and disappear at the next merge.
const lateIndexes = lateIndex + ",ix_user,ix_ip,ix_signature"

// serverDictionaries lets the server make the dictionaries of LowCardinality columns: the
// driver does it value by value, through reflection.
var serverDictionaries = clickhouse.Settings{"low_cardinality_allow_in_native_format": 0}

func (s *Store) writeRecords(ctx context.Context, c *commit) (*receipt, error) {
	ctx, receipt := once(ctx, c.token(s.shard), serverDictionaries)
	batch, err := s.prepareBatch(ctx, sqlInsertRecords)
	if err != nil {
		return nil, err
	}
	defer batch.Close()
	const others = 3 // two checkpoints and an answer
	rows := newRecordRows(min(2*len(c.changes), rowsTogether) + others)
	for i := range c.changes {
		if old := c.changes[i].old; old != nil {
			rows.add(old, -1)
		}
		if now := c.changes[i].now; now != nil {
			rows.add(now, 1)
		}
		if len(rows.book) >= rowsTogether {
			if err := rows.moveTo(batch); err != nil {
				return nil, err
			}
		}
	}
	if err := rows.addCheckpoints(s.shardKey(), c.from, c.to); err != nil {
		return nil, err
	}
	if c.command != 0 {
		rows.addAnswer(s.answerKey(c.command), c.command, c.answer)
	}
	if err := rows.moveTo(batch); err != nil {
		return nil, err
	}
	return receipt, batch.Send()
}
