package spill

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// kept is a File beside the newest value of each key.
type kept struct {
	*File
	newest map[uint64][]byte
}

func open(t testing.TB, limit int64) kept {
	t.Helper()
	f, err := Open(t.TempDir(), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return kept{f, map[uint64][]byte{}}
}

func (k kept) put(t interface{ Fatal(args ...any) }, key uint64, value []byte) {
	if err := k.Put(key, value); err != nil {
		t.Fatal(err)
	}
	k.newest[key] = value
}

// check reads all keys. A value is the newest one or not there; it returns how many are.
func (k kept) check(t interface {
	Fatalf(format string, args ...any)
}) (there int) {
	for key, want := range k.newest {
		got, found, err := k.Get(key)
		if err != nil || found && !bytes.Equal(got, want) {
			t.Fatalf("key %d: %q, %v, want %q", key, got, err, want)
		}
		if found {
			there++
		}
	}
	return there
}

// TestTheNewestOrNothing: whatever is done, a key gives its newest value or none, and one
// that was removed gives none.
func TestTheNewestOrNothing(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		f, err := Open(folder, int64(rapid.IntRange(segments, 40*segments).Draw(t, "limit")))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		k := kept{f, map[uint64][]byte{}}
		key, value := rapid.Uint64Range(0, 9), rapid.SliceOfN(rapid.Byte(), 0, 60)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) { k.put(t, key.Draw(t, "key"), value.Draw(t, "value")) },
			"remove": func(t *rapid.T) {
				gone := key.Draw(t, "key")
				k.Remove(gone)
				delete(k.newest, gone)
				if got, found, err := k.Get(gone); found || err != nil {
					t.Fatalf("removed, and there is %q, %v", got, err)
				}
			},
			"clear": func(t *rapid.T) {
				if err := k.Clear(); err != nil {
					t.Fatal(err)
				}
				if n := k.check(t); n != 0 {
					t.Fatalf("%d values after a clear", n)
				}
			},
			"": func(t *rapid.T) { k.check(t) },
		})
	})
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// TestTheOldestGo: with more than it has room for, the file is no larger than its limit and
// has the newest values.
func TestTheOldestGo(t *testing.T) {
	const each, limit = 8 + sumSize, 1600 * (8 + sumSize)
	k := open(t, limit)
	for n := range 10_000 {
		k.put(t, uint64(n), number(n))
	}
	if there := k.check(t); there < limit/each*(segments-1)/segments || there > limit/each {
		t.Errorf("%d values in a file for %d", there, limit/each)
	}
	for n := 9_000; n < 10_000; n++ {
		if _, found, _ := k.Get(uint64(n)); !found {
			t.Fatalf("value %d of 10,000 is gone", n)
		}
	}
	if info, err := k.file.Stat(); err != nil || info.Size() > limit {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

func TestTheFileHasNoName(t *testing.T) {
	folder := t.TempDir()
	f, err := Open(folder, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(folder)
	if err != nil || len(names) > 0 {
		t.Errorf("in the folder are %v, %v", names, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(folder, "none"), 1<<20); err == nil {
		t.Error("a file is made in no folder")
	}
}

// TestDamageIsNoticed: a value of which one bit is another one is not there, and the others are.
func TestDamageIsNoticed(t *testing.T) {
	const values = 200
	k := open(t, segments*4096)
	for n := range values {
		k.put(t, uint64(n), bytes.Repeat(number(n), 4))
	}
	k.put(t, values, make([]byte, 4000)) // the segments before it are written
	var at [1]byte
	if _, err := k.file.ReadAt(at[:], 1000); err != nil {
		t.Fatal(err)
	}
	at[0] ^= 4
	if _, err := k.file.WriteAt(at[:], 1000); err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for n := range values {
		got, found, err := k.Get(uint64(n))
		switch {
		case err != nil:
			if damaged++; found {
				t.Errorf("damaged, and there is %q", got)
			}
			if _, found, err := k.Get(uint64(n)); found || err != nil {
				t.Errorf("it is not forgotten: %v", err)
			}
		case !found || !bytes.Equal(got, bytes.Repeat(number(n), 4)):
			t.Errorf("value %d is %q", n, got)
		}
	}
	if damaged != 1 {
		t.Errorf("%d values are damaged, want 1", damaged)
	}
}

// TestALostWriteIsNoticed: the file was written a second time, and one segment still has its old
// bytes. Its values have the same keys and sizes as the new ones, and are not there.
func TestALostWriteIsNoticed(t *testing.T) {
	const each = 100 * (8 + sumSize)
	k := open(t, segments*each)
	round := func(add int) {
		for n := range 100 * segments {
			k.put(t, uint64(n), number(n+add))
		}
	}
	round(0)
	before := make([]byte, each)
	if _, err := k.file.ReadAt(before, each); err != nil {
		t.Fatal(err)
	}
	round(5000)
	if _, err := k.file.WriteAt(before, each); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for n := range 100 * segments {
		got, found, err := k.Get(uint64(n))
		if err != nil {
			lost++
		}
		if found && !bytes.Equal(got, number(n+5000)) {
			t.Fatalf("value %d is an old one", n)
		}
	}
	if lost != 100 {
		t.Errorf("%d values were lost, want 100", lost)
	}
}

// TestAfterAnError: when a write fails nothing is there, not even what was, and nothing is kept
// until writes succeed again.
func TestAfterAnError(t *testing.T) {
	k := open(t, segments*1000)
	for n := range 500 {
		k.put(t, uint64(n), number(n))
	}
	whole := k.file
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	k.file = readOnly
	failed := false
	for n := 0; n < 500 && !failed; n++ {
		failed = k.Put(uint64(n), number(n+1)) != nil
	}
	if !failed {
		t.Error("writes to a file that is only read succeed")
	}
	k.file = whole
	if n := k.check(t); n != 0 {
		t.Errorf("%d values are there", n)
	}
	for n := range 500 {
		k.put(t, uint64(n), number(n+2))
	}
	if n := k.check(t); n != 500 {
		t.Errorf("%d of 500 values are there", n)
	}
}
