// Package spill keeps values for which memory has no room in a file without a name: the file
// goes with the process. It is a memory of what can be read elsewhere, so it may forget, and
// says nothing rather than something wrong: a value that comes back damaged is not there.
//
// The newest values stay. The file is a ring of segments, each with an index in memory of
// about 25 bytes for each value. When all are full, the oldest one is written over.
//
// It must not know what the values are, and nothing in it may be the only copy.
package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
)

const (
	// segments is how many the file has. The oldest one goes at once, a sixteenth of the file.
	segments = 16
	// bufferSize is how many bytes are collected before they are written.
	bufferSize = 256 << 10
	sumSize    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// File keeps values by key. One goroutine may use it at a time.
type File struct {
	file    *os.File
	each    int64      // bytes of a segment
	held    []*segment // the oldest first
	next    uint64     // number of the next segment
	buffer  []byte     // the end of the newest segment that is not written yet
	scratch []byte     // of the last Get
}

// segment is one piece of the file, which begins at number modulo segments.
type segment struct {
	number  uint64
	written int64
	index   map[uint64]place
}

// place is where in its segment a value is, behind its checksum.
type place struct{ at, size uint32 }

// Open makes a file of at most limit bytes in the folder, at least one for each segment and at
// most 4 GiB for one.
func Open(folder string, limit int64) (*File, error) {
	file, err := os.CreateTemp(folder, "spill-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make a file for what memory has no room for: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("take its name from a file: %w", err), file.Close())
	}
	return &File{file: file, each: limit / segments}, nil
}

// Close ends the file. Nothing of it stays.
func (f *File) Close() error { return f.file.Close() }

// Put keeps the value under the key and forgets an older value of that key. After an error the
// file is empty, so that no older value comes back, and can still be used.
func (f *File) Put(key uint64, value []byte) error {
	size := int64(sumSize + len(value))
	if size > f.each {
		f.Remove(key)
		return nil
	}
	s, err := f.open(size)
	if err != nil {
		return errors.Join(err, f.Clear())
	}
	s.index[key] = place{at: uint32(s.written) + uint32(len(f.buffer)), size: uint32(len(value))}
	f.buffer = binary.LittleEndian.AppendUint32(f.buffer, s.sum(key, value))
	f.buffer = append(f.buffer, value...)
	return nil
}

// open returns the newest segment, which has room for so many bytes.
func (f *File) open(size int64) (*segment, error) {
	var newest *segment
	if n := len(f.held); n > 0 {
		newest = f.held[n-1]
	}
	full := newest == nil || newest.written+int64(len(f.buffer))+size > f.each
	if newest != nil && (full || len(f.buffer) >= bufferSize) {
		if _, err := f.file.WriteAt(f.buffer, f.start(newest)+newest.written); err != nil {
			return nil, fmt.Errorf("write what memory has no room for: %w", err)
		}
		newest.written += int64(len(f.buffer))
		f.buffer = f.buffer[:0]
	}
	if full {
		newest = &segment{number: f.next, index: map[uint64]place{}}
		f.next++
		f.held = append(f.held, newest)
		if len(f.held) > segments {
			f.held = slices.Delete(f.held, 0, 1)
		}
	}
	return newest, nil
}

func (f *File) start(s *segment) int64 { return int64(s.number%segments) * f.each }

// sum is the checksum of a value. The number of the segment is in it: a disk that has lost a
// write gives the bytes of an earlier segment, and their checksum is then wrong.
func (s *segment) sum(key uint64, value []byte) uint32 {
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], s.number)
	binary.LittleEndian.PutUint64(head[8:], key)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, value)
}

// Get finds the value of the key, which is good until the next call. An error says that the
// value there was cannot be read or is damaged; it is forgotten then.
func (f *File) Get(key uint64) (value []byte, found bool, err error) {
	for _, s := range slices.Backward(f.held) {
		p, there := s.index[key]
		if !there {
			continue
		}
		stored, err := f.read(s, p)
		if err == nil && binary.LittleEndian.Uint32(stored) != s.sum(key, stored[sumSize:]) {
			err = errors.New("its checksum is another one")
		}
		if err != nil {
			f.Remove(key)
			return nil, false, fmt.Errorf("read what memory had no room for: %w", err)
		}
		return stored[sumSize:], true, nil
	}
	return nil, false, nil
}

// read returns the checksum and the value at the place.
func (f *File) read(s *segment, p place) ([]byte, error) {
	size := sumSize + int(p.size)
	if at := int64(p.at) - s.written; at >= 0 {
		return f.buffer[at:][:size], nil
	}
	f.scratch = slices.Grow(f.scratch[:0], size)[:size]
	_, err := f.file.ReadAt(f.scratch, f.start(s)+int64(p.at))
	return f.scratch, err
}

// Remove forgets the value of the key.
func (f *File) Remove(key uint64) {
	for _, s := range f.held {
		delete(s.index, key)
	}
}

// Clear forgets all values, and gives the disk their bytes back.
func (f *File) Clear() error {
	f.held, f.buffer = nil, f.buffer[:0]
	if err := f.file.Truncate(0); err != nil {
		return fmt.Errorf("empty the file of what memory had no room for: %w", err)
	}
	return nil
}
