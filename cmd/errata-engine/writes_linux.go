//go:build amd64 || arm64

package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
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
// one for each file. So this file stands between the library and libc: it notes the file
// whose write fails, and lets the next fdatasync of that file fail.

// atOnce is how many threads of the library may wait for the disk at a time without delaying
// others: a call through Go that waits keeps one of Go's processors, for up to 10 ms.
const atOnce = 64

// writes knows the files with a write that failed.
type writes struct {
	libcWrite, libcFdatasync, libcErrno uintptr // functions

	some   atomic.Bool // failed is not empty
	mu     sync.Mutex
	failed map[int]failure // by descriptor
}

// failure is a write that failed. The file is known by more than its descriptor, which the
// next file may have.
type failure struct {
	device, inode uint64
	errno         syscall.Errno
}

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
	runtime.GOMAXPROCS(atOnce)
	w := &writes{
		libcWrite: *slots["write"], libcFdatasync: *slots["fdatasync"], libcErrno: *slots["__errno_location"],
		failed: map[int]failure{},
	}
	atomic.StoreUintptr(slots["fdatasync"], purego.NewCallback(w.fdatasync))
	atomic.StoreUintptr(slots["write"], purego.NewCallback(w.write))
	return nil
}

// importSlots are the words through which the library calls functions of others. The loader
// has filled all of them in (RTLD_NOW). They must be in pages that it leaves writable.
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

// write is libc's. It leaves errno as that has set it.
func (w *writes) write(fd, data, size uintptr) uintptr {
	n, _, _ := purego.SyscallN(w.libcWrite, fd, data, size)
	if int(n) < 0 {
		w.note(int(int32(fd)), syscall.Errno(*w.errno()))
	}
	return n
}

// fdatasync is libc's, and fails once after writes that failed.
func (w *writes) fdatasync(fd uintptr) uintptr {
	if errno := w.take(int(int32(fd))); errno != 0 {
		*w.errno() = int32(errno)
		return ^uintptr(0)
	}
	result, _, _ := purego.SyscallN(w.libcFdatasync, fd)
	return result
}

// errno is libc's, of the calling thread.
func (w *writes) errno() *int32 {
	at, _, _ := purego.SyscallN(w.libcErrno)
	return (*int32)(pointer(at))
}

// note notes a write that failed, unless the library tries it again.
func (w *writes) note(fd int, errno syscall.Errno) {
	if errno == unix.EINTR || errno == unix.EAGAIN {
		return
	}
	f, err := fileOf(fd)
	if err != nil {
		return // it is no file
	}
	f.errno = errno
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[fd] = f
	w.some.Store(true)
}

// take is why a write to the file failed, and forgets it; 0 for no such write.
func (w *writes) take(fd int) syscall.Errno {
	if !w.some.Load() {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f, failed := w.failed[fd]
	if !failed {
		return 0
	}
	delete(w.failed, fd)
	w.some.Store(len(w.failed) > 0)
	now, err := fileOf(fd)
	if err != nil || now.device != f.device || now.inode != f.inode {
		return 0 // another file since
	}
	return f.errno
}

// fileOf is the file behind a descriptor, without an error of a write.
func fileOf(fd int) (failure, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return failure{}, err
	}
	return failure{device: s.Dev, inode: s.Ino}, nil
}
