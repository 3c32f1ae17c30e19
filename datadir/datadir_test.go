package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestDataDirHasOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "data")
	if _, err := HolderOf(path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before: got %v, want ErrNotRunning", err)
	}
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: got %v, %v, want mode 0700", info.Mode(), err)
	}
	if err := first.Announce("http://127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	holder, err := HolderOf(path)
	if want := (Holder{PID: os.Getpid(), URL: "http://127.0.0.1:1"}); err != nil || holder != want {
		t.Errorf("holder: got %+v, %v, want %+v", holder, err, want)
	}

	_, err = Open(path)
	var inUse *InUseError
	if !errors.As(err, &inUse) || inUse.Holder != holder {
		t.Fatalf("second owner: got %v, want an InUseError that names the first", err)
	}
	if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("error does not say which folder and what to do: %v", err)
	}

	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := HolderOf(path); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after: got %v, want ErrNotRunning", err)
	}
	second, err := Open(path)
	if err != nil {
		t.Fatalf("after the first owner: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDataDirThatIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the path", err)
	}
}

func TestHolderThatIsNoHolder(t *testing.T) {
	for text, want := range map[string]Holder{
		"":                  {},
		"x\nhttp://h\n":     {},
		"12":                {PID: 12},
		"12\n\n":            {PID: 12},
		"12\nhttp://h:1\n ": {PID: 12, URL: "http://h:1"},
	} {
		path := filepath.Join(t.TempDir(), lockName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readHolder(path); got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestLocalAddr(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080",
		":8080":          "127.0.0.1:8080",
		"0.0.0.0:80":     "127.0.0.1:80",
		"[::]:80":        "127.0.0.1:80",
		"[::1]:80":       "[::1]:80",
		"10.0.0.7:1":     "10.0.0.7:1",
		"errors.lan:1":   "errors.lan:1",
	} {
		if got := LocalAddr(listen); got != want {
			t.Errorf("%s: got %s, want %s", listen, got, want)
		}
	}
}

func TestDataDirOfSomebodyElse(t *testing.T) {
	err := withOwner(fmt.Errorf("open: %w", fs.ErrPermission))
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "belong to the user of this process, whose number is "+strconv.Itoa(os.Geteuid())) {
		t.Errorf("the error does not say whose the folder must be: %v", err)
	}
	if err := withOwner(fs.ErrExist); !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "belong") {
		t.Errorf("another error became %v", err)
	}
}

// TestEmptyDataDir: a folder that was empty is closed to others; one with something in it
// stays as somebody has made it.
func TestEmptyDataDir(t *testing.T) {
	for name, want := range map[string]os.FileMode{"": 0o700, "something": 0o755} {
		path := t.TempDir()
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "" {
			if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("with %q in it: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}
