//go:build !(linux || darwin)

package engine

import "syscall"

// childAttributes are the defaults: there is no embedded ClickHouse on this system.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// preferOutOfMemory does nothing.
func preferOutOfMemory(int) {}
