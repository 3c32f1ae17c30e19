package projector

import (
	"context"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// set gives a variable another value until restore is called.
func set[T any](variable *T, value T) (restore func()) {
	old := *variable
	*variable = value
	return func() { *variable = old }
}

// SetSweepSize makes a cleanup take more inserts.
func SetSweepSize(n uint64) (restore func()) {
	return set(&sweepSize, n)
}

// SetRecordsTogether lets a query look up fewer records, so that there are more queries.
func SetRecordsTogether(n uint64) (restore func()) { return set(&recordsTogether, n) }

// Present says how many records a start learns of.
func (s *Store) Present(ctx context.Context) (records int, err error) {
	known, err := s.present(ctx)
	if err == nil {
		for _, layer := range known.layers {
			records += layer.used
		}
	}
	return records, err
}

// RemoveGone deletes the occurrences of records that facts in a range have removed.
func (s *Store) RemoveGone(ctx context.Context, after, to uint64) error {
	return s.removeGone(ctx, after, to)
}

// SetBatchSize makes a batch of so many records full.
func SetBatchSize(records int) (restore func()) {
	return set(&batchRecords, records)
}

// SetHeldBatches lets merges wait for so many full batches.
func SetHeldBatches(batches int) (restore func()) {
	return set(&heldBatches, batches)
}

// SetRemembered lets a committer remember fewer records.
func SetRemembered(records int) (restore func()) {
	return set(&rememberedRecords, records)
}

// SetStepRepeats lets the records of full batches with so many events for each record be
// written together, and commands have batches of their own behind them.
func SetStepRepeats(n uint64) (restore func()) {
	repeats, records := set(&stepRepeats, n), set(&joinRecords, 1)
	return func() {
		repeats()
		records()
	}
}

// SetSearchedFrom sets from how many contexts on the projector reads what a search sees of them.
func SetSearchedFrom(n int) (restore func()) { return set(&searchedFrom, n) }

// ReadSearched reads what a search sees of a context. plain is false if ClickHouse has to read it.
func ReadSearched(payload []byte) (words, eventID string, plain bool) {
	s := newSearched()
	plain = s.read(payload)
	return string(s.words), string(s.eventID), plain
}

// WriteContexts writes the contexts of as many records, whose signatures begin with a byte. read
// says how many of them the projector would read itself.
func WriteContexts(ctx context.Context, s *Store, begin byte, payloads []string) (read int, err error) {
	seen := newSearched()
	changes := make([]change, len(payloads))
	for i, payload := range payloads {
		key := recordKey{errata.BookSystem, errata.Signature{begin, byte(i >> 8), byte(i)}}
		changes[i] = change{key: key, now: &errata.Record{ID: errata.Position(i + 1)}, payload: []byte(payload)}
		if seen.read([]byte(payload)) {
			read++
		}
	}
	return read, s.writePayloads(ctx, changes)
}

// SweepContexts empties contexts like the cleanup at sequence.
func SweepContexts(ctx context.Context, s *Store, before int64, sequence uint64) error {
	return s.sweepContexts(ctx, sweep{before: time.UnixMilli(before)}.chunk(0, 1), sequence)
}

// SweepStep removes one chunk of a cleanup, as the step after the checkpoint.
func SweepStep(ctx context.Context, s *Store, from Checkpoint, before int64, chunk, chunks int) error {
	step := &commit{from: from, to: from.next(from.Sequence), sweep: sweep{before: time.UnixMilli(before)}.chunk(chunk, chunks)}
	step.to.Sweep = SweepProgress{Sequence: from.Sequence + 1, Chunks: chunks, Done: chunk + 1}
	return s.sweepRecords(ctx, step)
}

// Current reads a record like a projector whose last checkpoint is at.
func Current(ctx context.Context, s *Store, at Checkpoint, ev errata.Event) (found []errata.Record, err error) {
	keys := []recordKey{{ev.Book, ev.Signature}}
	return found, s.current(ctx, keys, at.Row, at.Row, func(r errata.Record) { found = append(found, r) })
}

// SetTidyClock gives the projector's tidier another clock; before Start.
func SetTidyClock(p *Projector, now func() time.Time, ticks <-chan time.Time) {
	p.tidier.now = now
	if ticks == nil {
		return
	}
	p.tidier.wait = func(ctx context.Context) bool {
		select {
		case <-ticks:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// Look lets the tidier of a projector that is not started look once.
func Look(ctx context.Context, p *Projector) error { return p.tidier.look(ctx) }

// RunTidier runs the tidier alone until ctx ends or ClickHouse refuses.
func RunTidier(ctx context.Context, p *Projector) { p.tidier.run(ctx) }

// ExpireOccurrences removes occurrences like the expiry at the position.
func (s *Store) ExpireOccurrences(ctx context.Context, projects []uint64, before time.Time, at errata.Position) error {
	return s.expireOccurrences(ctx, &expiry{before: before, projects: projects}, at)
}

// EraseOccurrences removes users from the occurrences like the erasure at the position.
func (s *Store) EraseOccurrences(ctx context.Context, users []string, at errata.Position) error {
	return s.eraseOccurrences(ctx, &erasure{users: users}, at)
}

// RollUp adds a checkpoint to the table hourly, which counts no event, with the token of a
// batch after from. It says whether the server has written it.
func RollUp(ctx context.Context, s *Store, from, to uint64, salt int) (written bool, err error) {
	key := s.shardKey()
	b := &rollupBatch{table: RollupHours, insert: sqlInsertHourly, rows: 1, fill: func(batch driver.Batch) error {
		return batch.Append(checkpointBook, string(key[:]), uint64(0), time.Unix(0, 0), "", uint64(0), to, uint64(0))
	}}
	receipt, err := s.writeRollup(ctx, b, from, salt)
	return receipt.written(), err
}

// Step moves the checkpoint of the records to the fact to, and changes no record. It says
// whether the server has written it.
func Step(ctx context.Context, s *Store, at Checkpoint, to uint64, salt int) (written bool, err error) {
	receipt, err := s.write(ctx, &commit{from: at, to: at.next(to), salt: salt})
	return receipt.written(), err
}

// OtherIDs replaces all ids in a file of event ids.
func OtherIDs(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := decodeIDs(data)
	if err != nil {
		return err
	}
	for i := range s.ids {
		s.ids[i] ^= 0xff
	}
	return os.WriteFile(path, s.encode(), 0o600)
}
