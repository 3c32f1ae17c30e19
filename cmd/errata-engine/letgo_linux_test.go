//go:build amd64 || arm64

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/errata-log/errata/engine"
)

// TestLetGo: the pages that are let go can only be read. Afterwards they take no memory, and
// have the same bytes when they are read again.
func TestLetGo(t *testing.T) {
	library, err := engine.FindLibrary("")
	if err != nil {
		t.Fatal(err)
	}
	lib, err := load(library)
	if err != nil {
		t.Fatal(err)
	}
	file, img, err := openImage(library, knownSymbol, lib.known)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	code := img.readOnly(file)
	if len(code) != 2 { // constants, and code
		t.Fatalf("%d stretches are read-only, want 2", len(code))
	}
	for _, pages := range code {
		sum := byte(0)
		for i := 0; i < len(pages); i += os.Getpagesize() {
			sum ^= pages[i]
		}
		rights, before := resident(t, &pages[0])
		if strings.Contains(rights, "w") || before < 10<<10 {
			t.Errorf("%d bytes have the rights %s and %d KiB in memory", len(pages), rights, before)
		}
		letGo([][]byte{pages})
		if _, after := resident(t, &pages[0]); after > before/100 {
			t.Errorf("%d of %d KiB stay in memory", after, before)
		}
		for i := 0; i < len(pages); i += os.Getpagesize() {
			sum ^= pages[i]
		}
		if sum != 0 {
			t.Error("other bytes than before are there")
		}
	}
}

// resident is what the kernel says about the mapping with the address: its rights, and how
// many KiB of it are in memory.
func resident(t *testing.T, at *byte) (rights string, kib int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	address := uintptr(unsafe.Pointer(at))
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n == 3 {
			_, rest, _ := strings.Cut(string(maps), line)
			if _, rss, _ := strings.Cut(rest, "\nRss:"); from <= address && address < to {
				if _, err := fmt.Sscan(rss, &kib); err != nil {
					t.Fatal(err)
				}
				return rights, kib
			}
		}
	}
	t.Fatalf("no mapping has %p", at)
	return "", 0
}
