package doortest

import (
	"syscall"
	"time"
)

// CPU is the processor time that the process has used. Other work on the machine does
// not change it. It is 0 if the system cannot tell.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
