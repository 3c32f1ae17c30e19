package engine

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// process is one run of errata-engine.
type process struct {
	cmd *exec.Cmd
	// stdin is the child's life line: the child ends when it is closed. It stands
	// here so that the garbage collector does not close it.
	stdin io.Closer

	exited chan struct{} // closed after the child has ended and err is set
	err    error
}

// startProcess starts the command, all of whose output goes to log.
func startProcess(cmd *exec.Cmd, log io.Writer) (*process, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the life line of %s: %w", cmd.Path, err)
	}
	// Equal writers share one pipe, which keeps the lines in order.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	p := &process{cmd: cmd, stdin: stdin, exited: make(chan struct{})}

	started := make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the thread ends that has
		// started the child. So this goroutine keeps its thread for as long as the
		// child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		preferOutOfMemory(cmd.Process.Pid)
		started <- nil
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop closes the life line, and kills the child if it has not ended after grace. A
// kill loses nothing: every insert is on disk before it is answered.
func (p *process) stop(grace time.Duration) {
	_ = p.stdin.Close() // an error says that it is closed already
	select {
	case <-p.exited:
		return
	case <-time.After(grace):
	}
	_ = p.cmd.Process.Kill() // an error says that it is gone already
	<-p.exited
}
