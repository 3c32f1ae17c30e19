package disk

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	pageSize = 4096
	// SectorSize is the unit that a disk writes whole: a torn write keeps some
	// of its sectors. Today's disks write 4096 bytes whole. The superblocks of
	// ext4 and its journal have 1024 bytes and must be written whole: with 512,
	// one cut in a hundred left a file system that could not be mounted.
	SectorSize = 1024
)

// errOff is what a disk without power answers.
var errOff = errors.New("disk: the power is off")

// store is the storage behind the cache.
type store interface {
	io.ReaderAt
	io.WriterAt
}

// write is one write that was not flushed yet.
type write struct {
	off  int64
	data []byte
}

// cache is the volatile cache of a disk.
type cache struct {
	size int64
	back store

	mu      sync.Mutex
	off     bool
	armed   chan struct{} // closed by the flush during which the power is cut
	least   int           // unflushed writes that such a flush must have
	pending []write
	pages   map[int64][]byte // data that reads see where it differs from back
	flushes int
}

func newCache(back store, size int64) *cache {
	return &cache{back: back, size: size, pages: map[int64][]byte{}}
}

// ReadAt reads what was written, flushed or not.
func (c *cache) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return 0, errOff
	}
	if off >= c.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), c.size-off)]
	if _, err := c.back.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("disk: read the image: %w", err)
	}
	for start := off / pageSize * pageSize; start < off+int64(len(p)); start += pageSize {
		page, changed := c.pages[start]
		if !changed {
			continue
		}
		if start >= off {
			copy(p[start-off:], page)
		} else {
			copy(p, page[off-start:])
		}
	}
	return len(p), nil
}

// WriteAt keeps the write in the cache.
func (c *cache) WriteAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return 0, errOff
	}
	if off+int64(len(p)) > c.size {
		return 0, fmt.Errorf("disk: write of %d bytes at %d is beyond %d", len(p), off, c.size)
	}
	data := append([]byte(nil), p...)
	c.pending = append(c.pending, write{off, data})
	for start := off / pageSize * pageSize; start < off+int64(len(p)); start += pageSize {
		page, changed := c.pages[start]
		if !changed {
			page = make([]byte, pageSize)
			if _, err := c.back.ReadAt(page, start); err != nil && !errors.Is(err, io.EOF) {
				return 0, fmt.Errorf("disk: read the image: %w", err)
			}
			c.pages[start] = page
		}
		if start >= off {
			copy(page, data[start-off:])
		} else {
			copy(page[off-start:], data)
		}
	}
	return len(p), nil
}

// Flush makes everything written so far durable.
func (c *cache) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed != nil && !c.off && len(c.pending) >= c.least {
		c.off = true
		close(c.armed)
	}
	if c.off {
		return errOff
	}
	for start, page := range c.pages {
		if _, err := c.back.WriteAt(page[:min(pageSize, c.size-start)], start); err != nil {
			return fmt.Errorf("disk: write the image: %w", err)
		}
	}
	clear(c.pages)
	c.pending = c.pending[:0]
	c.flushes++
	return nil
}

// Loss says what a cut did to the unflushed writes.
type Loss struct {
	Writes  int `json:"writes"` // in the cache at the cut
	Kept    int `json:"kept"`
	Torn    int `json:"torn"` // some of its sectors were kept
	Dropped int `json:"dropped"`
	Flushes int `json:"flushes"` // since the power came on
}

// await cuts the power in the middle of the next flush with that many writes,
// or after the time when there is none. In a flush the cache holds most, and
// senders wait for it.
func (c *cache) await(least int, limit time.Duration) {
	c.mu.Lock()
	armed := make(chan struct{})
	c.armed, c.least = armed, least
	c.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-armed:
	case <-timer.C:
	}
}

// Cut cuts the power. Of the writes in the cache, the random source keeps some
// whole, some in part and some not at all, in any order.
func (c *cache) Cut(random *rand.Rand) (Loss, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = true
	loss := Loss{Writes: len(c.pending), Flushes: c.flushes}
	// One kind prevails in each cut. An even mixture would hardly ever lose
	// everything, or nothing but the oldest writes.
	drop, tear := []float64{1, 0.5, 0.1, 0}[random.IntN(4)], []float64{0, 0.3, 1}[random.IntN(3)]
	random.Shuffle(len(c.pending), func(i, j int) { c.pending[i], c.pending[j] = c.pending[j], c.pending[i] })
	for _, w := range c.pending {
		switch {
		case random.Float64() < drop:
			loss.Dropped++
		case random.Float64() < tear:
			loss.Torn++
			for at := 0; at < len(w.data); at += SectorSize {
				if random.IntN(2) == 0 {
					continue
				}
				if _, err := c.back.WriteAt(w.data[at:min(at+SectorSize, len(w.data))], w.off+int64(at)); err != nil {
					return loss, fmt.Errorf("disk: write the image: %w", err)
				}
			}
		default:
			loss.Kept++
			if _, err := c.back.WriteAt(w.data, w.off); err != nil {
				return loss, fmt.Errorf("disk: write the image: %w", err)
			}
		}
	}
	c.pending, c.pages = nil, map[int64][]byte{}
	return loss, nil
}
