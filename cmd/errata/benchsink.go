package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/internal/proc"
)

// sinkCommand is the command of the null sink. It is a process of its own, so that its
// processor time is not that of the generator.
const sinkCommand = "bench-sink"

func newBenchSink() *cobra.Command {
	return &cobra.Command{
		Use:    sinkCommand,
		Short:  "Take the requests of \"errata bench\" and drop them, until the input ends",
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			addr, stop, err := load.NullSink()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), addr)
			_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // ends with the one who started it
			return stop()
		},
	}
}

// sinkProcess is a running null sink.
type sinkProcess struct {
	cmd  *exec.Cmd
	in   io.Closer
	addr string
}

func startSink(ctx context.Context) (*sinkProcess, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, sinkCommand)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &sinkProcess{cmd: cmd, in: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("it does not say its address: %w", err)
	}
	s.addr = strings.TrimSpace(line)
	return s, nil
}

func (s *sinkProcess) resident() (int64, error) { return proc.ResidentBytes(s.cmd.Process.Pid) }

// stop ends the null sink and returns the processor time that it has used.
func (s *sinkProcess) stop() (time.Duration, error) {
	_ = s.in.Close() // it ends then
	if err := s.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("end the null sink: %w", err)
	}
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime(), nil
}

// kill ends a null sink that was not stopped.
func (s *sinkProcess) kill() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill() // it may have ended
		_ = s.cmd.Wait()         // "signal: killed"
	}
}
