package engine

import "syscall"

// childAttributes put the child into a process group of its own, so that the
// terminal's ^C reaches the parent only. macOS has no parent-death signal: the life
// line alone ends the child of a killed parent, which takes seconds under load, and
// the next start waits for that (orphanTimeout).
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// preferOutOfMemory does nothing: macOS lets no process say which one is killed when
// memory runs out.
func preferOutOfMemory(int) {}
