//go:build !linux

package engine

import "syscall"

// childAttributes are the defaults where there is no parent-death signal: the
// life line alone ends the child.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func preferOutOfMemory(int) {}
