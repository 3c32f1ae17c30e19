package doortest

import (
	"syscall"
	"time"
)

// CPU is the processor time that the process has used, to measure beside
// other work on the same machine. It is 0 where the system cannot tell.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
