package proc

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// memoryPoll is how often memory is looked at.
const memoryPoll = 500 * time.Millisecond

// Highest looks at an amount of memory until highest is called, which returns the
// maximum.
func Highest(now func() (int64, error)) (highest func() (int64, error)) {
	type answer struct {
		most int64
		err  error
	}
	stop, done := make(chan struct{}), make(chan answer)
	go func() { // ends with highest
		tick := time.NewTicker(memoryPoll)
		defer tick.Stop()
		var a answer
		for {
			n, err := now()
			a = answer{max(a.most, n), err}
			select {
			case <-tick.C:
			case <-stop:
				done <- a
				return
			}
		}
	}()
	return func() (int64, error) {
		close(stop)
		a := <-done
		return a.most, a.err
	}
}

// ResidentBytes is the resident memory of the process, as Linux counts it.
func ResidentBytes(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(line), "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("process %d has no resident memory", pid)
}
