package proc

import (
	"time"

	"github.com/prometheus/procfs"
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
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := p.Stat()
	return int64(stat.ResidentMemory()), err
}
