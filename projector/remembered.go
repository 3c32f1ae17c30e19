package projector

import errata "github.com/errata-log/errata"

// rememberedRecords is how many current records a generation of the committer's memory
// has: with two of them, and the batch that fills one up, 80 to 130 MB with 500 bytes for
// each, enough for all records of the last minutes. Only tests change it.
var rememberedRecords = 1 << 16

// remembered are the current records that were used last, in two generations: the older
// one goes as a whole. Nobody changes a record that is in it.
type remembered struct {
	limit      int // records of a generation
	young, old map[recordKey]*errata.Record
}

func newRemembered(limit int) *remembered {
	return &remembered{limit: limit, young: map[recordKey]*errata.Record{}}
}

// turn begins a new generation when the young one is full. What was put behind the last
// turn is still there behind this one.
func (r *remembered) turn() {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[recordKey]*errata.Record, r.limit)
	}
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
}

// removeWhere removes the records of which gone says so.
func (r *remembered) removeWhere(gone func(key recordKey, record *errata.Record) bool) {
	for _, generation := range [...]map[recordKey]*errata.Record{r.young, r.old} {
		for key, record := range generation {
			if gone(key, record) {
				delete(generation, key)
			}
		}
	}
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
