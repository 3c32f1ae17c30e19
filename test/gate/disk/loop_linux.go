package disk

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// loop is a loop device.
type loop struct {
	path string
	file *os.File // of the device, open so that nobody else takes it
}

// attachTries is for other processes that take the free device in between.
const attachTries = 20

// attach makes a loop device of a file.
func attach(path string) (*loop, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	defer control.Close()
	image, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("disk: open the image: %w", err)
	}
	defer image.Close()
	for range attachTries {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("disk: find a free loop device: %w", err)
		}
		l := &loop{path: fmt.Sprintf("/dev/loop%d", n)}
		if l.file, err = openDevice(l.path, n); err != nil {
			return nil, err
		}
		err = unix.IoctlLoopConfigure(int(l.file.Fd()), &unix.LoopConfig{Fd: uint32(image.Fd()), Size: SectorSize})
		if err == nil {
			return l, nil
		}
		l.file.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("disk: attach %s to %s: %w", path, l.path, err)
		}
	}
	return nil, fmt.Errorf("disk: no free loop device in %d tries", attachTries)
}

// openDevice opens a loop device, and makes its node where the system does not.
func openDevice(path string, n int) (*os.File, error) {
	const major = 7 // of loop devices
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		if err = unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, uint32(n)))); err == nil {
			file, err = os.OpenFile(path, os.O_RDWR, 0)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("disk: open a loop device: %w", err)
	}
	return file, nil
}

// detach frees the device and returns when the kernel has let go of the file.
func (l *loop) detach() error {
	defer l.file.Close()
	if err := unix.IoctlSetInt(int(l.file.Fd()), unix.LOOP_CLR_FD, 0); err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("disk: detach %s: %w", l.path, err)
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("disk: close %s: %w", l.path, err)
	}
	for begin := time.Now(); time.Since(begin) < releaseLimit; {
		file, err := os.Open(l.path)
		if err != nil {
			return fmt.Errorf("disk: look at %s: %w", l.path, err)
		}
		_, err = unix.IoctlLoopGetStatus64(int(file.Fd()))
		file.Close()
		if errors.Is(err, unix.ENXIO) {
			return nil
		}
		time.Sleep(releasePoll) // reason: the kernel tells nobody when a loop device has let go of its file
	}
	return fmt.Errorf("disk: %s holds its file for %s", l.path, releaseLimit)
}
