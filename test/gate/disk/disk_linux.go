package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	// releaseLimit is how long processes that were killed may hold the disk.
	releaseLimit = 20 * time.Second
	releasePoll  = 20 * time.Millisecond
)

// Disk is a disk that can lose power.
type Disk struct {
	dir  string
	size int64
	back *os.File

	cache  *cache
	server *fuse.Server
	loop   *loop
	on     bool // the file system is mounted
}

// New makes an empty disk of a size in bytes with ext4 on it, in an empty
// folder, and powers it on.
func New(dir string, size int64) (_ *Disk, err error) {
	d := &Disk{dir: dir, size: size}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	for _, sub := range []string{d.fuseDir(), d.Path()} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, fmt.Errorf("disk: %w", err)
		}
	}
	if d.back, err = os.Create(filepath.Join(dir, "platter")); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	if err := d.back.Truncate(size); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	mkfs := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", d.back.Name())
	if out, err := mkfs.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("disk: mkfs.ext4: %w: %s", err, out)
	}
	return d, d.On()
}

// Path is where the file system is mounted while the disk is on.
func (d *Disk) Path() string { return filepath.Join(d.dir, "mnt") }

func (d *Disk) fuseDir() string { return filepath.Join(d.dir, "fuse") }

// On powers the disk on and mounts the file system, which repairs itself by its
// journal.
func (d *Disk) On() (err error) {
	d.cache = newCache(d.back, d.size)
	if d.server, err = serve(d.cache, d.fuseDir()); err != nil {
		return err
	}
	if d.loop, err = attach(filepath.Join(d.fuseDir(), imageName)); err != nil {
		return err
	}
	// When the journal cannot be written, only the file system stops, not the
	// machine.
	if err := unix.Mount(d.loop.path, d.Path(), "ext4", unix.MS_NOATIME, "errors=remount-ro,nodiscard"); err != nil {
		return fmt.Errorf("disk: mount ext4 of %s on %s: %w", d.loop.path, d.Path(), err)
	}
	d.on = true
	return nil
}

// Sync returns when everything that was written to the file system is kept, as
// after a machine that has run for a while.
func (d *Disk) Sync() error {
	dir, err := os.Open(d.Path())
	if err != nil {
		return fmt.Errorf("disk: sync: %w", err)
	}
	defer dir.Close()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("disk: sync %s: %w", d.Path(), err)
	}
	return nil
}

// flushLimit is how long a cut waits for a flush.
const flushLimit = time.Second

// Cut cuts the power, three times in four in the middle of a flush, and calls
// kill, which must end every process that uses the disk. Then it releases the
// devices. On powers the disk on again.
func (d *Disk) Cut(random *rand.Rand, kill func()) (Loss, error) {
	if random.IntN(4) > 0 {
		// Most flushes are of one file; merges make large ones.
		d.cache.await([]int{1, 3, 8, 20}[random.IntN(4)], flushLimit)
	}
	loss, err := d.cache.Cut(random)
	kill()
	return loss, errors.Join(err, d.release())
}

// Close unmounts everything. The disk's files stay.
func (d *Disk) Close() error {
	err := d.release()
	if d.back != nil {
		err = errors.Join(err, d.back.Close())
		d.back = nil
	}
	return err
}

// release removes the mounts and devices that are still there.
func (d *Disk) release() error {
	var failed []error
	if d.on {
		failed = append(failed, Unmount(d.Path()))
		d.on = false
	}
	if d.loop != nil {
		failed = append(failed, d.loop.detach())
		d.loop = nil
	}
	if d.server != nil {
		failed = append(failed, Unmount(d.fuseDir()))
		d.server.Wait()
		d.server = nil
	}
	return errors.Join(failed...)
}

// Unmount waits until nothing uses the mount any more. A mount that stays in
// use is detached, with an error.
func Unmount(path string) error {
	var err error
	for begin := time.Now(); time.Since(begin) < releaseLimit; {
		if err = unix.Unmount(path, 0); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(releasePoll) // reason: the kernel tells nobody when a mount is no longer in use
	}
	if err != nil {
		lazy := unix.Unmount(path, unix.MNT_DETACH)
		return fmt.Errorf("disk: unmount %s: %w", path, errors.Join(err, lazy))
	}
	return nil
}
