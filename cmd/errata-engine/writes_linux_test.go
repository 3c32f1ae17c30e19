//go:build amd64 || arm64

package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// libc calls the functions of this program that stand between the library and libc.
type libc struct {
	t *testing.T
}

func newLibc(t *testing.T) libc {
	t.Helper()
	handle, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]uintptr{}
	for _, name := range []string{"write", "fdatasync", "__errno_location"} {
		if found[name], err = purego.Dlsym(handle, name); err != nil {
			t.Fatal(err)
		}
	}
	standBetween(found["write"], found["fdatasync"], found["__errno_location"])
	runtime.LockOSThread() // errno belongs to the thread
	t.Cleanup(runtime.UnlockOSThread)
	return libc{t}
}

func (l libc) errno() *int32 {
	at, _, _ := purego.SyscallN(libcErrno)
	return (*int32)(pointer(at))
}

// call calls a function as C code does, and wants its result and what errno is afterwards.
func (l libc) call(function uintptr, want int, errno syscall.Errno, args ...uintptr) {
	l.t.Helper()
	*l.errno() = 0
	result, _, _ := purego.SyscallN(function, args...)
	if got, after := int(int32(result)), syscall.Errno(*l.errno()); got != want || after != errno {
		l.t.Errorf("the result is %d and errno %d (%v), want %d and %d", got, after, after, want, errno)
	}
}

func (l libc) write(file *os.File, text string, want int, errno syscall.Errno) {
	l.t.Helper()
	l.call(ownWrite, want, errno, file.Fd(), uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(len(text)))
}

func (l libc) fdatasync(file *os.File, want int, errno syscall.Errno) {
	l.t.Helper()
	l.call(ownFdatasync, want, errno, file.Fd())
}

// TestWriteThatFails: after a write to a file has failed, the next fdatasync of that file returns
// the same error, and the one after it does not. Other files are not affected, and neither is a
// file that gets the same descriptor later.
func TestWriteThatFails(t *testing.T) {
	l := newLibc(t)
	path := filepath.Join(t.TempDir(), "good")
	good, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	const whole = "all of it"
	for range 2 {
		l.write(good, whole, len(whole), 0)
		l.fdatasync(good, 0, 0)
		l.write(full, whole, -1, syscall.ENOSPC)
		if failures != 1 {
			t.Errorf("%d failures are noted", failures)
		}
		l.write(good, whole, len(whole), 0)
		l.fdatasync(good, 0, 0)
		l.fdatasync(full, -1, syscall.ENOSPC)
		if failures != 0 {
			t.Errorf("%d failures are noted after they were told", failures)
		}
		l.fdatasync(full, -1, syscall.EINVAL) // what libc says of a device
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != whole+whole+whole+whole {
		t.Errorf("%q is in the file (%v)", data, err)
	}
	l.write(full, whole, -1, syscall.ENOSPC)
	if err := syscall.Dup3(int(good.Fd()), int(full.Fd()), syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	l.fdatasync(full, 0, 0)
	if failures != 0 {
		t.Errorf("%d failures are noted of files that are closed", failures)
	}
}

// TestWriteThatIsTriedAgain: a write that returns EAGAIN does not count as failed, because the
// library tries it again.
func TestWriteThatIsTriedAgain(t *testing.T) {
	l := newLibc(t)
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	from, to := os.NewFile(uintptr(pipe[0]), "from"), os.NewFile(uintptr(pipe[1]), "to")
	defer from.Close()
	defer to.Close()
	for page := make([]byte, os.Getpagesize()); ; {
		_, err := syscall.Write(pipe[1], page)
		if errors.Is(err, syscall.EAGAIN) {
			break // it is full
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l.write(to, "more", -1, syscall.EAGAIN)
	if failures != 0 {
		t.Errorf("%d failures are noted", failures)
	}
}
