package engine

import (
	"fmt"
	"os"
	"syscall"
)

// childAttributes put the child into a process group of its own, so that the
// terminal's ^C reaches the parent only. They also let the kernel kill the child as
// soon as the parent has ended; with the life line alone that takes seconds under
// load.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// preferOutOfMemory makes the kernel kill the child before the parent when memory
// runs out: the child is restarted and loses nothing, while the parent holds requests
// without an answer.
func preferOutOfMemory(pid int) {
	// Best effort: some sandboxes forbid the write.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("500"), 0)
}
