//go:build amd64 || arm64

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// dropCapabilities takes the capabilities of root from the calling thread and from all
// threads that it starts, such as reading every file and the memory of every process.
// It keeps those to read and change files of other users only if the data folder has
// such files: a service that ran as another user has left them.
func dropCapabilities(data string) error {
	keep := uint64(0)
	if ownedByOthers(data) {
		keep = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER
	}
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if keep>>capability&1 == 1 {
			continue
		}
		// A user without the right to do this has no capabilities either.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, want [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("ask for the capabilities: %w", err)
	}
	for i := range want {
		part := uint32(keep >> (32 * i))
		want[i] = unix.CapUserData{Effective: have[i].Effective & part, Permitted: have[i].Permitted & part}
	}
	if err := unix.Capset(&header, &want[0]); err != nil {
		return fmt.Errorf("give up the capabilities: %w", err)
	}
	runtime.KeepAlive(want)
	return nil
}

// ownedByOthers says whether the folder, or an entry of it, belongs to another user.
func ownedByOthers(dir string) bool {
	paths, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern has no mistake in it
	for _, path := range append(paths, dir) {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
			return true
		}
	}
	return false
}
