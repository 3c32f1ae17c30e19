//go:build unix

package main

import "syscall"

// niceness lowers the engine's share of a busy processor: taking events comes before
// showing them.
const niceness = 5

// yield lowers the priority of this process, which later threads of the engine inherit.
// Where that is not allowed it does nothing.
func yield() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, niceness)
}
