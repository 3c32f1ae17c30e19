package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/insert_gone.sql
	sqlInsertGone string
	//go:embed sql/sweep_deployments.sql
	sqlSweepDeployments string
)

// deploymentRows are rows of the table deployments, column by column.
type deploymentRows struct {
	book                 []string
	signature            [][]byte
	id                   []uint64
	environment, release []string
	project, count       []uint64
	firstSeen, lastSeen  []int64 // Unix milliseconds
	sequence             []uint64
}

func newDeploymentRows(n int) *deploymentRows {
	return &deploymentRows{
		book: make([]string, 0, n), signature: make([][]byte, 0, n), id: make([]uint64, 0, n),
		environment: make([]string, 0, n), release: make([]string, 0, n), project: make([]uint64, 0, n), count: make([]uint64, 0, n),
		firstSeen: make([]int64, 0, n), lastSeen: make([]int64, 0, n), sequence: make([]uint64, 0, n),
	}
}

func (t *deploymentRows) add(book string, signature *errata.Signature, id errata.Position, project uint64, d *deployment, sequence uint64) {
	t.book = append(t.book, book)
	t.signature = append(t.signature, signature[:])
	t.id = append(t.id, uint64(id))
	t.environment = append(t.environment, d.environment)
	t.release = append(t.release, d.release)
	t.project = append(t.project, project)
	t.count = append(t.count, d.count)
	t.firstSeen = append(t.firstSeen, d.first)
	t.lastSeen = append(t.lastSeen, d.last)
	t.sequence = append(t.sequence, sequence)
}

// deploymentsOf collects what a batch adds to deployments; the last row is that of
// the checkpoint. Without events there are no rows.
func deploymentsOf(changes []change, key errata.Signature, to uint64) *rollupBatch {
	rows := 0
	for i := range changes {
		rows += len(changes[i].deployed.list)
	}
	t := newDeploymentRows(rows + 1)
	var events uint64
	for i := range changes {
		c := &changes[i]
		for j := range c.deployed.list {
			if d := &c.deployed.list[j]; d.count > 0 {
				t.add(c.key.book.String(), &c.key.signature, c.countedOf, c.project, d, 0)
				events += d.count
			}
		}
	}
	if events > 0 {
		t.add(checkpointBook, &key, 0, 0, &deployment{count: events}, to)
	}
	return &rollupBatch{
		table: RollupDeployments, insert: sqlInsertDeployments, rows: len(t.book), settings: serverDictionaries,
		fill: func(batch driver.Batch) error {
			return appendColumns(batch, t.book, t.signature, t.id, t.environment, t.release, t.project, t.count, t.firstSeen, t.lastSeen, t.sequence)
		},
	}
}

// goneDeployments has the settings of inserts that say which records are gone. A
// repeat must be written too: the block that it repeats may be lost while its
// checksum is remembered.
func goneDeployments(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"async_insert": 0, "insert_deduplicate": 0, "max_threads": 1,
	}))
}

// writeGone marks the deployments of the records that the changes up to the sequence
// remove. It comes before the records; a repeat writes the same rows.
func (s *Store) writeGone(ctx context.Context, changes []change, sequence uint64) error {
	var book, signature []string
	var id, since []uint64
	var gone []uint8
	add := func(key recordKey, of errata.Position) {
		book, signature = append(book, key.book.String()), append(signature, string(key.signature[:]))
		id, gone, since = append(id, uint64(of)), append(gone, 1), append(since, sequence)
	}
	for i := range changes {
		c := &changes[i]
		if c.removed() {
			add(c.key, c.old.ID)
		}
		if of := c.fleeting(); of != 0 {
			add(c.key, of)
		}
	}
	if len(book) == 0 {
		return nil
	}
	batch, err := s.conn.PrepareBatch(goneDeployments(ctx), sqlInsertGone)
	if err != nil {
		return err
	}
	defer batch.Close()
	if err := appendColumns(batch, book, signature, id, gone, since); err != nil {
		return err
	}
	return batch.Send()
}

// sweepDeployments marks the deployments of the records in the range that are older
// than the cleanup at sequence, as sweepContexts empties their contexts.
func (s *Store) sweepDeployments(ctx context.Context, c *sweepChunk, sequence uint64) error {
	args := append(c.args(), clickhouse.Named("until", uint64(errata.PositionOf(sequence, 0))), clickhouse.Named("sequence", sequence))
	if err := s.conn.Exec(goneDeployments(ctx), sqlSweepDeployments, args...); err != nil {
		return fmt.Errorf("mark the deployments that the cleanup removes: %w", err)
	}
	return nil
}
