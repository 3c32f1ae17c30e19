//go:build amd64 || arm64

package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// With libchdb, an error on one connection ends the whole engine: a wrong or incomplete
// first packet, a wrong password, a reset. The thread of the connection passes such an
// exception to the error handler of the process. The handler of the library is that of
// a command line client, which calls std::terminate. (The handler of clickhouse-server
// writes a line and goes on.) The library has no function and no setting to change it.
// So this file replaces the three functions of the handler by one that does nothing:
// the connection ends, and the engine has logged the error before.
//
// It finds them by what every C++ class with virtual functions has in the library: the
// name of the class, the type information that points to the name, the type
// information of its derived classes, and their tables of functions.

const (
	// handlerClass is the name of Poco::ErrorHandler as the compiler writes it.
	handlerClass = "N4Poco12ErrorHandlerE\x00"
	word         = unsafe.Sizeof(uintptr(0))
	// Words of a type information: its own type, the name, the base class.
	infoName, infoBase = 1, 2
	// Words of a table, counted from the type information in it: two destructors, then
	// the handlers of a Poco::Exception, of a std::exception and of all others.
	firstHandler, handlers = 3, 3
	searchStep             = 1 << 20
)

// image is the part of the library in memory that this file reads.
type image struct {
	base  uintptr   // address of the file in memory
	words []uintptr // its constants with addresses
	at    uintptr   // address of the first of words
}

// surviveErrors prevents errors on one connection from ending the engine. path is the
// library's file, known the address of its function called name. With an error nothing
// was changed.
func surviveErrors(path, name string, known uintptr) error {
	file, img, err := openImage(path, name, known)
	if err != nil {
		return err
	}
	defer file.Close()
	text := file.Section(".rodata")
	if text == nil {
		return errors.New("it has no constants")
	}
	offset, err := find(text.Open(), []byte(handlerClass))
	if err != nil {
		return fmt.Errorf("look for the name of its error handler: %w", err)
	}
	slots := img.handlerSlots(img.base + uintptr(text.Addr) + offset)
	if len(slots) == 0 {
		return errors.New("it has no error handler of its own")
	}
	nothing := purego.NewCallback(func(handler, exception uintptr) uintptr { return 0 })
	for _, slot := range slots {
		if err := replace(slot, nothing); err != nil {
			return err
		}
	}
	return nil
}

// openImage opens the file of the library, and finds the library in memory. The arguments are
// those of surviveErrors.
func openImage(path, name string, known uintptr) (file *elf.File, img image, err error) {
	if file, err = elf.Open(path); err != nil {
		return nil, image{}, err
	}
	if img, err = loadedImage(file, name, known); err != nil {
		return nil, image{}, errors.Join(err, file.Close())
	}
	return file, img, nil
}

func loadedImage(file *elf.File, name string, known uintptr) (image, error) {
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return image{}, fmt.Errorf("read its symbols: %w", err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	tables := file.Section(".data.rel.ro")
	if i < 0 || tables == nil {
		return image{}, fmt.Errorf("it has no symbol %s or no tables", name)
	}
	base := known - uintptr(symbols[i].Value)
	at := base + uintptr(tables.Addr)
	return image{base: base, at: at, words: unsafe.Slice((*uintptr)(pointer(at)), tables.Size/uint64(word))}, nil
}

// pointer is the address as a pointer. The memory belongs to the loader, not to the
// garbage collector.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// find is the offset of the text in the input. It does not read all of the input at
// once, which is tens of megabytes.
func find(from io.Reader, text []byte) (offset uintptr, err error) {
	buffer := make([]byte, searchStep)
	kept := 0 // bytes at its beginning from the read before
	for {
		n, err := io.ReadFull(from, buffer[kept:])
		if i := bytes.Index(buffer[:kept+n], text); i >= 0 {
			return offset + uintptr(i), nil
		}
		if err != nil {
			return 0, errors.Join(errors.New("it is not there"), err)
		}
		keep := len(text) - 1
		copy(buffer, buffer[len(buffer)-keep:])
		offset += uintptr(len(buffer) - keep)
		kept = keep
	}
}

// handlerSlots are the addresses that hold the functions of all error handlers. name is
// the address of the name of their base class.
func (m image) handlerSlots(name uintptr) (slots []uintptr) {
	for _, base := range m.holding(name) {
		baseInfo := m.at + uintptr(base-infoName)*word
		for _, derived := range m.holding(baseInfo) {
			info := m.at + uintptr(derived-infoBase)*word
			for _, table := range m.holding(info) {
				// Before the type information a table has the offset of the object,
				// which is 0.
				if table == 0 || m.words[table-1] != 0 || table+firstHandler+handlers > len(m.words) {
					continue
				}
				for i := range handlers {
					slots = append(slots, m.at+uintptr(table+firstHandler+i)*word)
				}
			}
		}
	}
	return slots
}

// holding are the indexes of the words with the value.
func (m image) holding(value uintptr) (found []int) {
	for i, w := range m.words {
		if w == value {
			found = append(found, i)
		}
	}
	return found
}

// replace puts another function into a slot. The loader has made its page read-only,
// and it is read-only again afterwards.
func replace(slot, function uintptr) error {
	size := uintptr(unix.Getpagesize())
	page := slot &^ (size - 1)
	if err := protect(page, size, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return err
	}
	atomic.StoreUintptr((*uintptr)(pointer(slot)), function)
	return protect(page, size, unix.PROT_READ)
}

func protect(page, size uintptr, rights int) error {
	if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, page, size, uintptr(rights)); errno != 0 {
		return fmt.Errorf("change the rights of a page: %w", errno)
	}
	return nil
}
