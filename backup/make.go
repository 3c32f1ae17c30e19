package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/errata-log/errata/datadir"
)

// unfinished is appended to the name of a backup that is being written.
const unfinished = ".unfinished"

// ErrNotOffered says that a service runs on the data folder and makes no backups.
var ErrNotOffered = errors.New("the service makes no backups: it is an ingest node, which keeps nothing, or an older version")

// Make asks the service that runs on the data folder for a backup, and writes it into
// a new folder. told, if it is not nil, is called with the bytes so far. A backup that
// is broken off leaves nothing with the name of the folder. Errors:
// [datadir.ErrNotRunning], ErrNotOffered.
func Make(ctx context.Context, data, folder string, told func(bytes int64)) (m Manifest, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return m, err
	}
	if err := checkEmpty(folder); err != nil {
		return m, fmt.Errorf("backup into %s: %w", folder, err)
	}
	conn, err := dial(ctx, data)
	if err != nil {
		return m, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	making := folder + unfinished
	if err := os.Mkdir(making, 0o700); errors.Is(err, fs.ErrExist) {
		return m, fmt.Errorf("%s is there: another backup writes it, or one was broken off; remove it then", making)
	} else if err != nil {
		return m, err
	}
	w := &writer{folder: making, sums: map[string]string{}, sizes: map[string]int64{}, told: told}
	err = receive(conn, w.take)
	if err = errors.Join(err, w.end()); err == nil {
		m, err = w.finish(folder)
	}
	if err != nil {
		err = errors.Join(err, ctx.Err(), os.RemoveAll(making))
	}
	return m, err
}

// checkEmpty says why a folder cannot be filled. It may be missing.
func checkEmpty(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != "lost+found" {
			return fmt.Errorf("it is not empty: it has %s", entry.Name())
		}
	}
	return nil
}

// dial connects to the service that runs on a data folder.
func dial(ctx context.Context, data string) (conn net.Conn, err error) {
	if _, err := datadir.HolderOf(data); err != nil {
		return nil, fmt.Errorf("%w %s", err, data)
	}
	err = near(data, func(folder string) (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", folder+"/"+datadir.BackupSocket)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, ErrNotOffered
	}
	return conn, err
}

// writer writes the files of a backup. One is open at a time.
type writer struct {
	folder string
	sums   map[string]string
	sizes  map[string]int64
	bytes  int64 // so far, with those of failed tries
	told   func(int64)

	name string
	file *os.File // nil when none is open
	out  *bufio.Writer
	sum  hash.Hash
	size int64
}

func (w *writer) take(f frame) error {
	if f.Begins {
		if err := errors.Join(w.end(), w.begin(f.Name)); err != nil {
			return err
		}
	}
	if f.Name != w.name {
		return fmt.Errorf("the service sends %s in the middle of %s", f.Name, w.name)
	}
	w.sum.Write(f.Data)
	w.size += int64(len(f.Data))
	w.bytes += int64(len(f.Data))
	if w.told != nil {
		w.told(w.bytes)
	}
	_, err := w.out.Write(f.Data)
	return err
}

func (w *writer) begin(name string) (err error) {
	path := filepath.Join(w.folder, name)
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if w.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	w.name, w.out, w.sum, w.size = name, bufio.NewWriterSize(w.file, frameBytes), sha256.New(), 0
	return nil
}

// end brings the open file to the disk.
func (w *writer) end() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	w.sums[w.name], w.sizes[w.name] = hex.EncodeToString(w.sum.Sum(nil)), w.size
	return errors.Join(w.out.Flush(), file.Sync(), file.Close())
}

// finish writes what makes the files a backup, and gives the folder its name.
func (w *writer) finish(folder string) (m Manifest, err error) {
	path := filepath.Join(w.folder, manifestFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, err
	}
	delete(w.sizes, manifestFile)
	for _, size := range w.sizes {
		m.Bytes += size
	}
	if text, err = json.MarshalIndent(m, "", "  "); err != nil {
		return m, err
	}
	if err := w.take(frame{Name: manifestFile, Begins: true, Data: append(text, '\n')}); err != nil {
		return m, err
	}
	if err := w.end(); err != nil {
		return m, err
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		fmt.Fprintf(&list, "%s  %s\n", w.sums[name], name)
	}
	if err := syncFolders(w.folder); err != nil {
		return m, err
	}
	if err := datadir.WriteFile(filepath.Join(w.folder, sumsFile), list.String()); err != nil {
		return m, err
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("replace the empty folder: %w", err)
	}
	if err := os.Rename(w.folder, folder); err != nil {
		return m, err
	}
	return m, datadir.Sync(filepath.Dir(folder))
}

// syncFolders brings the names of all files below a folder to the disk.
func syncFolders(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return datadir.Sync(path)
	})
}
