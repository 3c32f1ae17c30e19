package engine

import (
	"fmt"
	"os"
	"syscall"
)

// childAttributes give the child a process group of its own, so that the
// terminal's ^C reaches the parent only, and let the kernel kill it the moment
// the parent is gone; the life line alone takes seconds under load.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// preferOutOfMemory makes the kernel choose the child before the parent when
// memory runs out: the child is started again and loses nothing, while the
// parent holds requests that nobody has answered yet.
func preferOutOfMemory(pid int) {
	// Best effort: some sandboxes do not let it be written.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0)
}
