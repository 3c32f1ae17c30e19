//go:build amd64 || arm64

package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// The library takes a write that fails for one that has worked: on a full or a broken disk a
// part of a table lacks bytes, and its insert or merge counts as done. (clickhouse-server
// throws an exception there; chDB has taken that out, in WriteBufferFromFileDescriptor.cpp.)
// An fdatasync that fails is an error with both, and every insert and merge of ours ends with
// one for each file. So two functions stand between the library and libc. When a write to a file
// fails, they note it, and the next fdatasync of that file returns the error.

// The two functions are in assembly. They can reach nothing but variables of the package, so
// what they need is in these.
var (
	ownWrite, ownFdatasync uintptr
	// Functions of libc.
	libcWrite, libcFdatasync, libcErrno uintptr //nolint:unused // assembly reads them
	// The methods note and take of a writes, as C code calls them.
	noteFailure, takeFailure uintptr //nolint:unused // assembly reads them
	failures                 uint32  // how many are noted; above 0 takeFailure is called
)

// writes knows the files with a write that failed.
type writes struct {
	mu     sync.Mutex
	failed map[int]failure // by descriptor
}

// failure is a write that failed.
type failure struct {
	file  fileID
	errno syscall.Errno
}

// fileID names a file. A descriptor does not: when its file is closed, the next file gets it.
type fileID struct{ device, inode uint64 }

// tellWrites lets the library notice writes that fail. The arguments are those of
// surviveErrors. With an error nothing was changed.
func tellWrites(path, name string, known uintptr) error {
	file, img, err := openImage(path, name, known)
	if err != nil {
		return err
	}
	defer file.Close()
	slots, err := img.importSlots(file)
	if err != nil {
		return err
	}
	for _, function := range []string{"write", "fdatasync", "__errno_location"} {
		if slots[function] == nil {
			return fmt.Errorf("it does not import %s", function)
		}
	}
	standBetween(*slots["write"], *slots["fdatasync"], *slots["__errno_location"])
	atomic.StoreUintptr(slots["fdatasync"], ownFdatasync)
	atomic.StoreUintptr(slots["write"], ownWrite)
	return nil
}

// standBetween prepares the two functions for those of libc.
func standBetween(write, fdatasync, errno uintptr) {
	w := &writes{failed: map[int]failure{}}
	libcWrite, libcFdatasync, libcErrno = write, fdatasync, errno
	noteFailure = purego.NewCallback(func(fd, errno uintptr) { w.note(int(int32(fd)), syscall.Errno(errno)) })
	takeFailure = purego.NewCallback(func(fd uintptr) uintptr { return uintptr(w.take(int(int32(fd)))) })
}

// importSlots are the words of memory with the addresses of the functions that the library
// imports, by the names of the functions. The loader has filled in all of them (RTLD_NOW). It
// is an error when it has made them read-only.
func (m image) importSlots(file *elf.File) (map[string]*uintptr, error) {
	table := file.Section(".rela.plt")
	if table == nil {
		return nil, errors.New("it has no table of imported functions")
	}
	data, err := table.Data()
	if err != nil {
		return nil, fmt.Errorf("read its table of imported functions: %w", err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("read its symbols: %w", err)
	}
	words := file.Section(".got.plt")
	for _, part := range file.Progs {
		if part.Type == elf.PT_GNU_RELRO && (words == nil || words.Addr < part.Vaddr+part.Memsz) {
			return nil, errors.New("its table of imported functions is read-only")
		}
	}
	const entry = 24 // bytes: address, symbol and kind, addend
	slots := make(map[string]*uintptr, len(data)/entry)
	for ; len(data) >= entry; data = data[entry:] {
		address, symbol := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint32(data[12:])
		if symbol >= 1 && int(symbol) <= len(symbols) { // number 0 is not among them
			slots[symbols[symbol-1].Name] = (*uintptr)(pointer(m.base + uintptr(address)))
		}
	}
	return slots, nil
}

// note notes a write that failed, unless the library tries it again.
func (w *writes) note(fd int, errno syscall.Errno) {
	if errno == unix.EINTR || errno == unix.EAGAIN {
		return
	}
	file, err := fileOf(fd)
	if err != nil {
		return // nobody can ask for it
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[fd] = failure{file, errno}
	atomic.StoreUint32(&failures, uint32(len(w.failed)))
}

// take returns the error of the last write to the file that failed, and forgets it. It returns 0
// when none has failed.
func (w *writes) take(fd int) syscall.Errno {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, failed := w.failed[fd]
	if !failed {
		return 0
	}
	delete(w.failed, fd)
	atomic.StoreUint32(&failures, uint32(len(w.failed)))
	if now, err := fileOf(fd); err != nil || now != f.file {
		return 0 // the descriptor has another file now
	}
	return f.errno
}

func fileOf(fd int) (fileID, error) {
	var s unix.Stat_t
	err := unix.Fstat(fd, &s)
	return fileID{s.Dev, s.Ino}, err
}
