package projector

import (
	"errors"
	"fmt"
	"log/slog"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
	"github.com/errata-log/errata/internal/spill"
)

// rememberedRecords is how many current records a generation of the committer's memory
// has: with two of them, and the batch that fills one up, 40 to 65 MB with 500 bytes for
// each, enough for all records of the last minute. Only tests change it.
var rememberedRecords = 1 << 15

const (
	// spillBytes is how large the file of spilled records may become: with 300 bytes for each,
	// 1.7 million. Its index takes 40 MB of memory then.
	spillBytes = 512 << 20
	// bulkRecords is how many records a batch adds at least that catches up with the log. A
	// service that keeps up has batches of some thousands, and full ones have 30,000 to 50,000.
	bulkRecords = 1 << 14
)

// remembered are the current records that were used last, in two generations: the older
// one goes as a whole, into a file. From there a record comes in 3 µs, from ClickHouse in
// 50, with both processors busy in 150. Nobody changes a record that is in it.
type remembered struct {
	limit      int // records of a generation
	young, old map[recordKey]*errata.Record
	begun      int // how many records young had at the last turn
	// youngBulk and oldBulk say that a batch which catches up has added to the generation.
	youngBulk, oldBulk bool

	folder  string // of the file, "" for none
	log     *slog.Logger
	file    *spill.File // nil before there is anything to spill
	scratch []byte
}

func newRemembered(limit int, folder string, log *slog.Logger) *remembered {
	return &remembered{limit: limit, young: map[recordKey]*errata.Record{}, folder: folder, log: log}
}

// close ends the file. What is in it is not known after an error: the next session has
// another one.
func (r *remembered) close() {
	if r.file != nil {
		r.tell(r.file.Close())
	}
}

// turn is called before each batch. It begins a new generation when the young one is full. What
// was put behind the last turn is still there behind this one.
func (r *remembered) turn() {
	r.youngBulk = r.youngBulk || len(r.young)-r.begun >= bulkRecords
	if len(r.young) >= r.limit {
		r.tell(r.spill())
		r.old, r.oldBulk = r.young, r.youngBulk
		r.young, r.youngBulk = make(map[recordKey]*errata.Record, r.limit), false
	}
	r.begun = len(r.young)
}

// tell logs an error of the file, without which records are read from ClickHouse.
func (r *remembered) tell(err error) {
	if err != nil {
		r.log.Warn("records for which memory has no room are read from ClickHouse again", "error", err)
	}
}

// spill puts the records of the old generation into the file. While the log is caught up with,
// most records are new, and the time counts: those are not kept, and neither are those before,
// which they may have changed.
func (r *remembered) spill() (err error) {
	if r.folder == "" || len(r.old) == 0 {
		return nil
	}
	if r.oldBulk {
		return r.clear()
	}
	if r.file == nil {
		if r.file, err = spill.Open(r.folder, spillBytes); err != nil {
			return err
		}
	}
	for key, record := range r.old {
		if r.young[key] != nil {
			continue
		}
		r.scratch = packed.Append(r.scratch[:0], record)
		if err := r.file.Put(key.hashes().a, r.scratch); err != nil {
			return err
		}
	}
	return nil
}

// spilled finds a record that get does not find, nil when the file has none. A file of which
// something is damaged is emptied.
func (r *remembered) spilled(key recordKey) *errata.Record {
	if r.file == nil {
		return nil
	}
	value, found, err := r.file.Get(key.hashes().a)
	if err == nil && !found {
		return nil
	}
	var record errata.Record
	if err == nil {
		record, err = packed.Decode(string(value))
	}
	if err != nil {
		r.tell(errors.Join(fmt.Errorf("read a record that was spilled: %w", err), r.clear()))
		return nil
	}
	if record.Book != key.book || record.Signature != key.signature { // another one has the same hash
		return nil
	}
	return &record
}

// clear forgets the records in the file.
func (r *remembered) clear() error {
	if r.file == nil {
		return nil
	}
	return r.file.Clear()
}

// get finds the record, nil when it is not remembered.
func (r *remembered) get(key recordKey) *errata.Record {
	if known := r.young[key]; known != nil || len(r.old) == 0 {
		return known
	}
	return r.old[key]
}

func (r *remembered) put(key recordKey, record *errata.Record) { r.young[key] = record }

func (r *remembered) remove(key recordKey) {
	delete(r.young, key)
	delete(r.old, key)
	if r.file != nil {
		r.file.Remove(key.hashes().a)
	}
}

// removeWhere removes the records of which gone says so, and all that are in the file.
func (r *remembered) removeWhere(gone func(key recordKey, record *errata.Record) bool) {
	for _, generation := range [...]map[recordKey]*errata.Record{r.young, r.old} {
		for key, record := range generation {
			if gone(key, record) {
				delete(generation, key)
			}
		}
	}
	r.tell(r.clear())
}

// remembered finds a record as it is behind all steps, nil when that is not remembered. All that
// a step changes which is not in the tables yet is.
func (c *committer) remembered(key recordKey) *errata.Record {
	if r := c.cache.get(key); r != nil {
		return r
	}
	if r, changed := c.waiting.record(key); changed {
		return r
	}
	if c.writing() {
		r, _ := c.last.record(key)
		return r
	}
	return nil
}
