// Package datadir is the data folder of one service: which process holds it, the names
// of its files that other packages and programs read, how a small secret file is
// written, and how the addresses of the service are checked and shown.
//
// The package must not know what the files mean, and must not look into the folders of
// the engines.
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
	// MakeKeysFile exists while the first keys are being made. The text of a key is
	// only in its file. When a crash comes before that file, nobody can use the key,
	// and the next start sees this mark and makes a new one. An operator who has lost
	// the admin key makes the mark by hand.
	MakeKeysFile = KeysDir + "/make-missing"
	// NATSFile has the address of the embedded NATS for applications, with the
	// password: nats://errata_app:password@host:port. It is written while nats-listen
	// is set.
	NATSFile = KeysDir + "/nats.url"
	// LeafFile has the address of this service for ingest nodes, with the password. It
	// is written while nats-leaf-listen is set. It is the value for nats-leaf of an
	// ingest node, except that the host must be one that the node can reach.
	LeafFile = KeysDir + "/leaf.url"
	// LeafIDFile holds the id of an ingest node, by which the hub counts the node's
	// events. So it must not be copied to another node.
	LeafIDFile = "leaf.id"
	// AnalystFile holds the password of the user for analysts of the embedded ClickHouse.
	AnalystFile = KeysDir + "/clickhouse-analyst.password"
	// ShownFile has the certificates that the service shows at the moment, for the
	// commands on this machine. It is written while TLS is on.
	ShownFile = "tls.pem"
	// ACMEDir is the folder with the account and the certificates of ACME.
	ACMEDir = "acme"
	// ClusterFile says to which cluster, and which of its nodes, the folder belongs.
	ClusterFile = "cluster.json"
	// NATSDir is the folder of the embedded NATS, with the log.
	NATSDir = "nats"
	// AloneDir is the folder of the embedded NATS from before errata cluster init, until
	// its streams are on the nodes of the cluster.
	AloneDir = "nats.alone"
	// KeyCopiesFile has copies of the API keys, without their secrets.
	KeyCopiesFile = "keys.copy"
	// BackupSocket is where the service gives a backup to errata backup. Whoever can
	// open it can read the folder as well.
	BackupSocket = "backup.sock"
	// RestoringFile exists while a backup is restored into the folder. A folder that
	// keeps it holds a part of a backup, and no service starts on it.
	RestoringFile = "restore.unfinished"
)

// Permissions of the data folder. Error texts are often secret.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// lockName is the file whose lock says that a service holds the data folder. The file
// has the process id and, once the service listens, its URL.
const lockName = "errata.lock"

// Open retries for lockPatience: a service that stops may still hold the folder when
// its supervisor starts the next one, and [HolderOf] holds it for a moment.
const (
	lockPatience = 300 * time.Millisecond
	lockPause    = 20 * time.Millisecond
)

// Dir is a data folder that this process holds.
type Dir struct {
	path string
	lock *os.File
}

// ErrRestoring says that a folder holds a part of a backup.
var ErrRestoring = errors.New("a backup was being restored into it and that did not end: empty the folder and run errata restore again")

// Open makes the folder if it is missing and takes its lock, which the kernel drops
// when the process ends, however it ends. The error for a folder that another service
// holds is an [*InUseError], that for a half restored one is [ErrRestoring].
func Open(path string) (*Dir, error) {
	d, err := OpenToRestore(path)
	if err == nil && d.Find(RestoringFile) != "" {
		return nil, errors.Join(fmt.Errorf("data folder %s: %w", d.Path(), ErrRestoring), d.Close())
	}
	return d, err
}

// OpenToRestore is Open for whoever restores a backup into the folder.
func OpenToRestore(path string) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	if err := os.MkdirAll(abs, dirMode); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	if err := closeNew(abs); err != nil {
		return nil, fmt.Errorf("take the rights of others from the empty data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(abs, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open lock of data folder: %w", withOwner(err))
	}
	d := &Dir{path: abs, lock: lock}
	if err := d.take(); err != nil {
		lock.Close()
		return nil, err
	}
	return d, nil
}

// closeNew gives an empty folder of this user the mode that it would have been made with.
// A new volume of a container is one that everybody may enter.
func closeNew(path string) error {
	entries, err := os.ReadDir(path)
	if err == nil && len(entries) == 0 {
		err = os.Chmod(path, dirMode)
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil // whose it must be is said when the lock cannot be opened
	}
	return err
}

// withOwner says what to do when the folder belongs to somebody else, such as a folder of
// the host in a container that has no root.
func withOwner(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; the data folder must belong to the user of this process, whose number is %d", err, os.Geteuid())
	}
	return err
}

// take locks the folder. The lock belongs to the open file, so it also works between
// two services in one process.
func (d *Dir) take() error {
	var err error
	for waited := time.Duration(0); waited <= lockPatience; waited += lockPause {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause) // reason: the kernel has no wait for a lock with a time limit
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return &InUseError{Path: d.path, Holder: readHolder(d.lock.Name())}
	}
	if err != nil {
		return fmt.Errorf("lock data folder: %w", err)
	}
	return d.Announce("")
}

// Announce writes the process id and the URL of the service into the lock file, for
// people and for commands that look for the service. The lock does not depend on them.
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

// Close gives the folder back. The lock file stays: if it were removed, a second and a
// third service could lock different files of that name.
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
	URL string // "" until the service listens
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

// readHolder reads what [Dir.Announce] has written. Parts that cannot be read are zero.
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
