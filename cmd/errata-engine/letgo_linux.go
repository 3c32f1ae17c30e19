//go:build amd64 || arm64

package main

import (
	"debug/elf"
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// startLasts is how long code of the start may still be in use. A start takes 0.1 s, and
// longer with many parts; being early costs only that pages are mapped a second time.
const startLasts = 10 * time.Second

// letGoOfStart takes the library's code and constants out of the memory of this process, once,
// some seconds after the start. A start uses 180 MB of them, the work afterwards 70 to 120 MB.
// What is used again comes back from the kernel's cache. What is not, the kernel may drop when
// memory is short. The arguments are those of surviveErrors.
func letGoOfStart(path, name string, known uintptr) error {
	file, img, err := openImage(path, name, known)
	if err != nil {
		return err
	}
	defer file.Close()
	if changed, err := file.DynValue(elf.DT_TEXTREL); err != nil || len(changed) > 0 {
		return errors.Join(errors.New("the loader has changed its code"), err)
	}
	code := img.readOnly(file)
	time.AfterFunc(startLasts, func() { letGo(code) })
	return nil
}

// letGo is best effort: what stays mapped does no harm.
func letGo(code [][]byte) {
	for _, pages := range code {
		_ = unix.Madvise(pages, unix.MADV_DONTNEED)
	}
}

// readOnly are the whole pages of the library that nobody can have written, so that those of
// the file are the same.
func (m image) readOnly(file *elf.File) (pages [][]byte) {
	size := uintptr(unix.Getpagesize())
	for _, part := range file.Progs {
		if part.Type != elf.PT_LOAD || part.Flags&elf.PF_W != 0 {
			continue
		}
		from := (m.base + uintptr(part.Vaddr) + size - 1) &^ (size - 1)
		to := (m.base + uintptr(part.Vaddr+part.Filesz)) &^ (size - 1)
		if from < to {
			pages = append(pages, unsafe.Slice((*byte)(pointer(from)), to-from))
		}
	}
	return pages
}
