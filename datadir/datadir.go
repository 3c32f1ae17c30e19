// Package datadir is the data folder of one service: who holds it, what the files
// in it are called that other programs read, and how a small secret file is
// written.
//
// The package must not know what the files mean, and must not look into folders
// of the engines.
package datadir

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

// Files below the folder. Those in keys hold secrets.
const (
	KeysDir       = "keys"
	AdminKeyFile  = KeysDir + "/admin.key"
	IngestKeyFile = KeysDir + "/ingest.key"
	// DSNFile holds the DSN of the first ingest key.
	DSNFile = KeysDir + "/dsn"
	// MakeKeysFile stands there while the first keys are being made. The text
	// of a key exists only once, in its file: a key whose file a crash
	// prevented can be used by nobody, and this mark says to make it anew. An
	// operator who has lost the admin key sets the mark by hand.
	MakeKeysFile = KeysDir + "/make-missing"
	// NATSFile is where applications reach the embedded NATS, with the password:
	// nats://errata_app:password@host:port. It is written while nats-listen is set.
	NATSFile = KeysDir + "/nats.url"
	// LeafFile is where ingest nodes reach this service, with the password. It is
	// written while nats-leaf-listen is set, and is what nats-leaf of a node is,
	// with the host as the node sees it.
	LeafFile = KeysDir + "/leaf.url"
	// LeafIDFile holds the id of an ingest node. The hub counts the node's events
	// by it, so it must not be copied to another one.
	LeafIDFile = "leaf.id"
	// NATSDir is the folder of the embedded NATS, in which the log stands.
	NATSDir = "nats"
	// KeyCopiesFile has copies of the API keys, without their secrets.
	KeyCopiesFile = "keys.copy"
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
// supervisor starts the next one, and [HolderOf] holds it for an instant.
const (
	lockPatience = 300 * time.Millisecond
	lockPause    = 20 * time.Millisecond
)

// Dir is a data folder that belongs to this process.
type Dir struct {
	path string
	lock *os.File
}

// Open makes the folder if need be and takes its lock, which the kernel drops when
// the process ends in whatever way. A folder that another service holds is an
// [*InUseError].
func Open(path string) (*Dir, error) {
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
	d := &Dir{path: abs, lock: lock}
	if err := d.take(); err != nil {
		lock.Close()
		return nil, err
	}
	return d, nil
}

// take locks the folder. The lock belongs to the open file, so two services
// of one process exclude each other too.
func (d *Dir) take() error {
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
	return d.Announce("")
}

// Announce writes who holds the folder and at which URL it listens, for people and
// for the commands that look for the service. The lock does not depend on it.
func (d *Dir) Announce(url string) error {
	text := strconv.Itoa(os.Getpid()) + "\n" + url + "\n"
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("write lock of data folder: %w", err)
	}
	if _, err := d.lock.WriteAt([]byte(text), 0); err != nil {
		return fmt.Errorf("write lock of data folder: %w", err)
	}
	return nil
}

// Close gives the folder back. The lock file stays: removing it would let a
// third service lock a file that a second one has just opened.
func (d *Dir) Close() error { return d.lock.Close() }

// Path is the absolute path of the folder.
func (d *Dir) Path() string { return d.path }

// Join is the absolute path of a file below the folder.
func (d *Dir) Join(name string) string { return filepath.Join(d.path, name) }

// Find is the absolute path of a file below the folder, "" when it is not there.
func (d *Dir) Find(name string) string {
	if _, err := os.Stat(d.Join(name)); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return d.Join(name)
}

// Holder is the service that runs on a data folder.
type Holder struct {
	PID int
	URL string // "" until it listens
}

// ErrNotRunning says that no service holds a data folder.
var ErrNotRunning = errors.New("no service runs on the data folder")

// HolderOf says which service of this machine runs on the data folder, or
// [ErrNotRunning].
func HolderOf(path string) (Holder, error) {
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

// readHolder reads what [Dir.Announce] wrote; what is not readable stays zero.
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
