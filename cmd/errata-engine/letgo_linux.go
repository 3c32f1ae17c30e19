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

// letGoOfStart gives up, once, the pages of the library's code and constants that the start
// has touched. A start runs through 180 MB of them, and the work afterwards through 70 to 120.
// The pages stay in the kernel's cache and are mapped again when they are used, but the
// kernel may drop the others when memory is short. The arguments are those of surviveErrors.
func letGoOfStart(path, name string, known uintptr) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	img, err := loadedImage(file, name, known)
	if err != nil {
		return err
	}
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
