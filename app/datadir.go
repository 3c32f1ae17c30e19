package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Permissions of the data folder: error texts are often secret.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// lockName is the file whose lock says that a service owns the data folder.
// It holds the process id and, once the service listens, its URL.
const lockName = "errata.lock"

// A service that was told to stop may still hold the folder when its
// supervisor starts the next one, and FindHolder holds it for an instant.
const (
	lockPatience = 300 * time.Millisecond
	lockPause    = 20 * time.Millisecond
)

// dataDir is a data folder that belongs to this process.
type dataDir struct {
	path string
	lock *os.File
}

// openDataDir makes the folder if need be and takes its lock, which the kernel
// drops when the process ends in whatever way. A folder that another service
// holds is an *InUseError.
func openDataDir(path string) (*dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, dirMode); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(abs, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open lock of data folder: %w", err)
	}
	d := &dataDir{path: abs, lock: lock}
	if err := d.take(); err != nil {
		lock.Close()
		return nil, err
	}
	return d, nil
}

// take locks the folder. The lock belongs to the open file, so two services
// of one process exclude each other too.
func (d *dataDir) take() error {
	var err error
	for waited := time.Duration(0); waited <= lockPatience; waited += lockPause {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause) // reason: the kernel tells nobody that a lock is free without waiting for it for ever
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return &InUseError{Path: d.path, Holder: readHolder(d.lock.Name())}
	}
	if err != nil {
		return fmt.Errorf("lock data folder: %w", err)
	}
	return d.announce("")
}

// announce writes who holds the folder, for people and for the commands that
// look for the service. The lock does not depend on it.
func (d *dataDir) announce(url string) error {
	text := strconv.Itoa(os.Getpid()) + "\n" + url + "\n"
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("write lock of data folder: %w", err)
	}
	if _, err := d.lock.WriteAt([]byte(text), 0); err != nil {
		return fmt.Errorf("write lock of data folder: %w", err)
	}
	return nil
}

// close gives the folder back. The lock file stays: removing it would let a
// third service lock a file that a second one has just opened.
func (d *dataDir) close() error { return d.lock.Close() }

func (d *dataDir) join(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

// Holder is the service that runs on a data folder.
type Holder struct {
	PID int
	URL string // "" until it listens
}

// ErrNotRunning says that no service holds a data folder.
var ErrNotRunning = errors.New("no service runs on the data folder")

// FindHolder says which service runs on the data folder of this machine, or
// ErrNotRunning.
func FindHolder(path string) (Holder, error) {
	name := filepath.Join(path, lockName)
	lock, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, ErrNotRunning
	}
	if err != nil {
		return Holder{}, fmt.Errorf("look for the service: %w", err)
	}
	defer lock.Close() // gives the lock back, if it was free
	err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return readHolder(name), nil
	}
	if err != nil {
		return Holder{}, fmt.Errorf("look for the service: %w", err)
	}
	return Holder{}, ErrNotRunning
}

// readHolder reads what announce wrote; what is not readable stays zero.
func readHolder(name string) Holder {
	text, err := os.ReadFile(name)
	if err != nil {
		return Holder{}
	}
	pid, url, _ := strings.Cut(string(text), "\n")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return Holder{}
	}
	return Holder{PID: n, URL: strings.TrimSpace(url)}
}

// InUseError says that another service holds the data folder.
type InUseError struct {
	Path   string
	Holder Holder
}

func (e *InUseError) Error() string {
	holder := "another service"
	if e.Holder.PID > 0 {
		holder = "the service with process id " + strconv.Itoa(e.Holder.PID)
	}
	return fmt.Sprintf("data folder %s is in use by %s: stop that one, or choose another folder with --data", e.Path, holder)
}
