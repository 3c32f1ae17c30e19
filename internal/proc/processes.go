package proc

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is what processes have used.
type Usage struct {
	// Processor is their processor time, with that of their children that have ended.
	Processor time.Duration
	// Resident is their resident memory in bytes. What several of them share counts for
	// each of them.
	Resident int64
}

// Since is the processor time that was used after the earlier usage of the same
// processes.
func (u Usage) Since(earlier Usage) time.Duration { return u.Processor - earlier.Processor }

// Families is what the processes and all below them use, without the process except and
// those below it. root is the folder in which Linux shows processes, /proc.
func Families(root string, pids []int, except int) (Usage, error) {
	fs, err := procfs.NewFS(root)
	if err != nil {
		return Usage{}, err
	}
	all, err := fs.AllProcs()
	if err != nil {
		return Usage{}, err
	}
	known := map[int]procfs.ProcStat{}
	children := map[int][]int{}
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil {
			continue // it has ended meanwhile
		}
		known[p.PID] = stat
		children[stat.PPID] = append(children[stat.PPID], p.PID)
	}
	var sum Usage
	counted := map[int]bool{except: true}
	var add func(pid int)
	add = func(pid int) {
		if counted[pid] {
			return
		}
		counted[pid] = true
		stat := known[pid]
		ticks := int64(stat.UTime) + int64(stat.STime) + int64(stat.CUTime) + int64(stat.CSTime)
		sum.Processor += time.Duration(ticks) * MicrosPerTick * time.Microsecond
		sum.Resident += int64(stat.ResidentMemory())
		for _, child := range children[pid] {
			add(child)
		}
	}
	for _, pid := range pids {
		if _, ok := known[pid]; !ok {
			return Usage{}, fmt.Errorf("there is no process %d", pid)
		}
		add(pid)
	}
	return sum, nil
}
