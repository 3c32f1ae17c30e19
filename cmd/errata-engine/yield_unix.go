//go:build unix

package main

import "syscall"

// niceness is how far the engine stands back where processors are scarce: an
// event that is being taken comes before one that is being shown.
const niceness = 5

// yield lowers the priority of this process. The threads that the engine makes
// later inherit it. Without the right to do so all stays as it is.
func yield() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness)
}
