package projector

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
)

func rememberedKey(n int) recordKey {
	return recordKey{book: errata.BookSystem, signature: errata.Signature{byte(n), byte(n >> 8), 2: 1}}
}

func rememberedRecord(n int, count uint64) *errata.Record {
	key := rememberedKey(n)
	return &errata.Record{Book: key.book, Signature: key.signature, Count: count, Status: errata.StatusOpen, Message: fmt.Sprint("problem ", n, " for the ", count, "th time")}
}

// find is what the committer asks: memory, then the file.
func (r *remembered) find(key recordKey) *errata.Record {
	if record := r.get(key); record != nil {
		return record
	}
	return r.spilled(key)
}

// TestRememberedAreTheNewest: whatever is put and removed, a record that is found is the one that
// was put last, and one that was removed is not found.
func TestRememberedAreTheNewest(t *testing.T) {
	folder, log := t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil))
	rapid.Check(t, func(t *rapid.T) {
		r := newRemembered(rapid.IntRange(1, 4).Draw(t, "limit"), folder, log)
		defer r.close()
		newest, puts := map[int]*errata.Record{}, uint64(0)
		number := rapid.IntRange(0, 19)
		t.Repeat(map[string]func(*rapid.T){
			"a batch": func(t *rapid.T) {
				r.turn()
				for _, n := range rapid.SliceOfN(number, 1, 6).Draw(t, "records") {
					puts++
					newest[n] = rememberedRecord(n, puts)
					r.put(rememberedKey(n), newest[n])
				}
			},
			"a record is removed": func(t *rapid.T) {
				n := number.Draw(t, "record")
				r.remove(rememberedKey(n))
				delete(newest, n)
			},
			"a cleanup": func(t *rapid.T) {
				until := rapid.Uint64Range(0, puts).Draw(t, "until")
				r.removeWhere(func(_ recordKey, record *errata.Record) bool { return record.Count <= until })
				for n, record := range newest {
					if record.Count <= until {
						delete(newest, n)
					}
				}
			},
			"": func(t *rapid.T) {
				for n := range 20 {
					found, want := r.find(rememberedKey(n)), newest[n]
					if found != nil && (want == nil || found.Message != want.Message || found.Count != want.Count) {
						t.Fatalf("record %d is %+v, want %+v", n, found, want)
					}
				}
			},
		})
	})
}

// rememberedOf puts the records in batches of two, each of which is a generation.
func rememberedOf(t *testing.T, records int) *remembered {
	t.Helper()
	r := newRemembered(2, t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	t.Cleanup(r.close)
	r.generations(0, records)
	return r
}

// generations puts the records from one number up to another, in batches of two.
func (r *remembered) generations(from, to int) {
	for n := from; n < to; n += 2 {
		r.turn()
		r.put(rememberedKey(n), rememberedRecord(n, 1))
		r.put(rememberedKey(n+1), rememberedRecord(n+1, 1))
	}
}

func (r *remembered) count(records int) (found int) {
	for n := range records {
		if r.find(rememberedKey(n)) != nil {
			found++
		}
	}
	return found
}

// TestSpilledAreFound: all records that memory has no room for are found.
func TestSpilledAreFound(t *testing.T) {
	r := rememberedOf(t, 1000)
	if n := r.count(1000); n != 1000 || len(r.young)+len(r.old) > 4 {
		t.Errorf("%d of 1,000 are found, %d of them in memory", n, len(r.young)+len(r.old))
	}
	other := rememberedKey(3)
	other.signature[15] = 1
	if r.find(other) != nil {
		t.Error("a record is found for another signature with the same hash")
	}
	r.removeWhere(func(recordKey, *errata.Record) bool { return false })
	if n := r.count(1000); n != 4 {
		t.Errorf("%d are found after a cleanup, want the 4 in memory", n)
	}
}

// TestCatchingUpSpillsNothing: a generation that one batch has filled is not kept, and with it
// what it may have changed goes.
func TestCatchingUpSpillsNothing(t *testing.T) {
	r := rememberedOf(t, 10)
	r.turn()
	for n := range bulkRecords {
		r.put(rememberedKey(n), rememberedRecord(n%1000, 2))
	}
	r.generations(20_000, 20_004)
	if n := r.count(10); n != 0 {
		t.Errorf("%d records are found of before the batch", n)
	}
}

// TestFullBatchesSpillNothing: the full batches of a log that is caught up with may be smaller than
// a generation. Batches of a service that keeps up are kept, however many fill a generation.
func TestFullBatchesSpillNothing(t *testing.T) {
	for _, c := range []struct {
		batch, batches int
		kept           bool
	}{{30_000, 6, false}, {maxBatchRecords, 4, false}, {7_000, 20, true}} {
		r := newRemembered(rememberedRecords, t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil)))
		t.Cleanup(r.close)
		n := uint32(0)
		for range c.batches {
			r.turn()
			for range c.batch {
				key := recordKey{book: errata.BookSystem}
				binary.LittleEndian.PutUint32(key.signature[:], n)
				r.put(key, &errata.Record{Book: key.book, Signature: key.signature, Status: errata.StatusOpen})
				n++
			}
		}
		first := recordKey{book: errata.BookSystem}
		if kept := r.find(first) != nil; kept != c.kept || len(r.young)+len(r.old) == int(n) {
			t.Errorf("%d batches of %d: the first record is kept: %v, want %v; %d are in memory", c.batches, c.batch, kept, c.kept, len(r.young)+len(r.old))
		}
	}
}

// TestSpillsWithoutAFile: where no file can be made, records are forgotten.
func TestSpillsWithoutAFile(t *testing.T) {
	r := rememberedOf(t, 2)
	r.folder += "/none"
	r.generations(2, 20)
	if n := r.count(20); n != 4 {
		t.Errorf("%d of 20 are found, want the 4 in memory", n)
	}
}

// TestASpilledRecordThatCannotBeRead: of a file with something wrong in it nothing is believed.
func TestASpilledRecordThatCannotBeRead(t *testing.T) {
	r := rememberedOf(t, 20)
	if err := r.file.Put(rememberedKey(1).hashes().a, []byte("no record")); err != nil {
		t.Fatal(err)
	}
	if r.find(rememberedKey(1)) != nil {
		t.Error("something is found")
	}
	if n := r.count(20); n != 4 {
		t.Errorf("%d of 20 are found, want the 4 in memory", n)
	}
}
