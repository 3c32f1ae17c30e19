//go:build unix

package testenv

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// FreezeClickHouse stops the embedded ClickHouse until a SIGCONT, and returns
// when none of its threads runs any more.
func (e *Env) FreezeClickHouse() {
	e.t.Helper()
	AwaitFrozen(e.t, e.SignalClickHouse(syscall.SIGSTOP))
}

// AwaitFrozen waits until no thread of a process that was sent SIGSTOP runs any
// more: a thread stops only when it next gets a processor. Without /proc it
// returns at once.
func AwaitFrozen(t testing.TB, pid int) {
	t.Helper()
	deadline := time.After(recoveryTimeout)
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !frozen(pid) {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("testenv: process %d was sent SIGSTOP and still runs after %s", pid, recoveryTimeout)
		}
	}
}

// frozen reads the state of each thread, the letter behind its name, see
// proc_pid_stat(5).
func frozen(pid int) bool {
	threads, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil { // it has ended
			continue
		}
		if name := bytes.LastIndexByte(stat, ')'); name < 0 || !bytes.HasPrefix(stat[name:], []byte(") T")) {
			return false
		}
	}
	return true
}
