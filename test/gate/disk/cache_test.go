package disk

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// memory is a store in memory.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m)) {
		return 0, io.EOF
	}
	return copy(p, m[off:]), nil
}

func (m memory) WriteAt(p []byte, off int64) (int, error) { return copy(m[off:], p), nil }

// TestCacheReadsWhatWasWritten compares reads with a plain slice, over writes
// of any place and length with flushes in between.
func TestCacheReadsWhatWasWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const size = 10*pageSize + 100
	want := make([]byte, size)
	c := newCache(make(memory, size), size)
	for range 2000 {
		off := random.IntN(size)
		p := make([]byte, min(random.IntN(3*pageSize), size-off))
		for i := range p {
			p[i] = byte(random.Uint32())
		}
		copy(want[off:], p)
		if _, err := c.WriteAt(p, int64(off)); err != nil {
			t.Fatal(err)
		}
		if random.IntN(10) == 0 {
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		from := random.IntN(size)
		got := make([]byte, min(random.IntN(3*pageSize), size-from))
		if _, err := c.ReadAt(got, int64(from)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want[from:from+len(got)]) {
			t.Fatalf("read of %d bytes at %d is not what was written", len(got), from)
		}
	}
}

// TestCutKeepsWhatWasFlushed: nothing flushed changes, and every other sector is
// the old one or the new one. Over the seeds, writes are kept, torn and dropped.
func TestCutKeepsWhatWasFlushed(t *testing.T) {
	var sum Loss
	for seed := range uint64(200) {
		const sectors = 64
		back := make(memory, sectors*SectorSize)
		c := newCache(back, int64(len(back)))
		fill := func(from, to int, b byte) {
			if _, err := c.WriteAt(bytes.Repeat([]byte{b}, (to-from)*SectorSize), int64(from)*SectorSize); err != nil {
				t.Fatal(err)
			}
		}
		fill(0, sectors, 1)
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			fill(32+8*i, 40+8*i, 2)
		}
		loss, err := c.Cut(rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		if loss.Writes != 4 || loss.Kept+loss.Torn+loss.Dropped != 4 {
			t.Fatalf("seed %d: %+v", seed, loss)
		}
		sum.Kept, sum.Torn, sum.Dropped = sum.Kept+loss.Kept, sum.Torn+loss.Torn, sum.Dropped+loss.Dropped
		for i := range sectors {
			sector := back[i*SectorSize : (i+1)*SectorSize]
			if whole := bytes.Count(sector, sector[:1]) == SectorSize; !whole || sector[0] != 1 && (i < 32 || sector[0] != 2) {
				t.Fatalf("seed %d: sector %d is neither the old one nor the new one", seed, i)
			}
		}
		if _, err := c.WriteAt([]byte{3}, 0); err == nil {
			t.Fatal("a disk without power took a write")
		}
	}
	if sum.Kept == 0 || sum.Torn == 0 || sum.Dropped == 0 {
		t.Errorf("over all seeds: %+v", sum)
	}
}

// TestPowerGoesInAFlush: a flush during which the power is cut fails, and may
// have left nothing on the disk.
func TestPowerGoesInAFlush(t *testing.T) {
	back := make(memory, SectorSize)
	c := newCache(back, int64(len(back)))
	flushed := make(chan error)
	go func() {
		for {
			if _, err := c.WriteAt([]byte{1}, 0); err != nil {
				flushed <- err
				return
			}
			if err := c.Flush(); err != nil {
				flushed <- err
				return
			}
		}
	}()
	c.await(1, time.Minute)
	if err := <-flushed; !errors.Is(err, errOff) {
		t.Fatal(err)
	}
	if loss, err := c.Cut(rand.New(rand.NewPCG(1, 0))); err != nil || loss.Writes != 1 {
		t.Fatalf("%+v, %v", loss, err)
	}
}
