//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minLandlock is the first version that allows renames between folders, which the
// engine needs to drop a table.
const minLandlock = 2

// systemPaths are what the engine reads of the system: its own limits and counters,
// time zones, libraries that the C library loads late. The folders of other processes
// in /proc are not among them: their environment may hold passwords.
var systemPaths = []string{
	"/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/uptime", "/proc/loadavg",
	"/proc/sys/vm/overcommit_memory", "/proc/sys/vm/max_map_count",
	"/sys", "/usr", "/lib", "/lib64",
	"/etc/localtime", "/etc/timezone", "/etc/ld.so.cache",
	"/dev/null", "/dev/random", "/dev/urandom",
}

const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// fileRights are the rights that a rule for a file may have, unlike a folder.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// allRights is every right of the first version of Landlock.
	allRights = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
)

// confine takes the rights that the engine does not need from the calling thread and
// from all threads that it starts. They may write below data, read below run and
// systemPaths, and reach no other file. They may not run programs or connect to
// anything, and have no capabilities of root. Otherwise the functions of the engine
// that read files could read all that the service may read.
//
// Go's threads that exist already keep their rights; no code of the engine runs on
// them. An error says which rights could not be taken.
func confine(data, run string) error {
	// The kernel requires this for Landlock of a process that is not root.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	return errors.Join(dropCapabilities(data), restrictFiles(data, run))
}

// restrictFiles takes all files but those that the engine needs.
func restrictFiles(data, run string) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("the kernel has no Landlock: %w", errno)
	}
	if version < minLandlock {
		return fmt.Errorf("the kernel has version %d of Landlock and %d is needed", version, minLandlock)
	}
	all := uint64(allRights | unix.LANDLOCK_ACCESS_FS_REFER)
	attr := unix.LandlockRulesetAttr{}
	if version >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	attr.Handled_access_fs = all
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules: %w", errno)
	}
	defer unix.Close(int(set))

	allow := map[string]uint64{data: all &^ unix.LANDLOCK_ACCESS_FS_EXECUTE, run: readRights}
	for _, path := range systemPaths {
		allow[path] = readRights
	}
	allow["/dev/null"] |= unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	for path, rights := range allow {
		if err := addRule(int(set), path, rights&all); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules: %w", errno)
	}
	return nil
}

// addRule gives rights to a file, or to a folder and all below it.
func addRule(set int, path string, rights uint64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		rights &= fileRights
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	// The kernel drops a file of /proc that no process has open and makes a new one at
	// the next access, to which the rule does not apply. So it stays open.
	if !strings.HasPrefix(path, "/proc/") {
		defer unix.Close(fd)
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
