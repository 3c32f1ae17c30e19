//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var (
	chosen string
	left   atomic.Int64
)

func init() {
	text := os.Getenv(Variable)
	if text == "" {
		return
	}
	name, count, _ := strings.Cut(text, "@")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		panic(fmt.Sprintf("%s=%q: want a point and a count, such as folded@3", Variable, text))
	}
	chosen = name
	left.Store(n)
}

// Reach says that the process is at the moment. At the chosen one it kills the
// process without deferred calls, as a crash does.
func Reach(point string) {
	if point != chosen || left.Add(-1) != 0 {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}
