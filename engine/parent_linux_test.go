package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

// helperVariable makes the test binary a service that holds engines and does
// nothing else; its value is the data directory and the path of errata-engine.
const helperVariable = "ERRATA_ENGINE_TEST_HELPER"

// runHelper starts engines, prints the child's process id and waits to be
// killed. With the word "panic" on standard input it panics.
func runHelper() {
	dir, binary, _ := strings.Cut(os.Getenv(helperVariable), "\n")
	held, err := datadir.Open(dir)
	var e *engine.Engines
	if err == nil {
		e, err = engine.Start(context.Background(), engine.Config{
			Dir: held, Options: engine.Options{EngineBinary: binary, LogMaxBytes: 64 << 20}, Logger: quiet,
		})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	pid, _ := e.EmbeddedClickHouse()
	fmt.Println(pid)
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if strings.TrimSpace(line) == "panic" {
		panic("as asked")
	}
	os.Exit(0) // without Stop, as a program that crashes
}

func TestChildDoesNotOutliveItsParent(t *testing.T) {
	for name, end := range map[string]func(helper *osexec.Cmd, stdin *os.File) error{
		"killed":  func(helper *osexec.Cmd, _ *os.File) error { return helper.Process.Kill() },
		"panics":  func(_ *osexec.Cmd, stdin *os.File) error { _, err := stdin.WriteString("panic\n"); return err },
		"exits":   func(_ *osexec.Cmd, stdin *os.File) error { return stdin.Close() },
		"aborted": func(helper *osexec.Cmd, _ *os.File) error { return helper.Process.Signal(unix.SIGABRT) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			helper, stdin, child := startHelper(t, dir)
			fd, err := unix.PidfdOpen(child, 0)
			if err != nil {
				t.Fatalf("the child %d is not there: %v", child, err)
			}
			defer unix.Close(fd)

			begin := time.Now()
			if err := end(helper, stdin); err != nil {
				t.Fatal(err)
			}
			_ = helper.Wait() // it was ended in one of four bad ways
			// The descriptor becomes readable when the process is gone.
			if n, err := poll(fd, 5*time.Second); err != nil || n != 1 {
				t.Fatalf("5 s after its parent the child %d is still there (%v)", child, err)
			}
			t.Logf("the child was gone %s after its parent was ended", time.Since(begin).Round(time.Millisecond))
			// And its directory can be used again at once.
			start(t, config(t, dir))
		})
	}
}

// poll waits until the descriptor is readable. The Go runtime sends signals to this
// process; they do not end the wait.
func poll(fd int, limit time.Duration) (n int, err error) {
	for end := time.Now().Add(limit); ; {
		left := max(0, time.Until(end).Milliseconds())
		if n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left)); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func startHelper(t *testing.T, dir string) (helper *osexec.Cmd, stdin *os.File, child int) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	helper = osexec.Command("/proc/self/exe")
	helper.Env = append(os.Environ(), helperVariable+"="+dir+"\n"+testenv.EngineBinary(t), "GOTRACEBACK=none")
	helper.Stdin = read
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = helper.Process.Kill() }) // for a test that failed early
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the helper said %q: %v", line, err)
	}
	child, err = strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the helper did not start: %s", line)
	}
	return helper, write, child
}
