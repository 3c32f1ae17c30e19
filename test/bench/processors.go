package main

import (
	"bytes"
	"fmt"
	"os"
)

// microsPerTick is the length of a tick in µs: Linux shows every process a hundred a second.
const microsPerTick = 10_000

// processors is what the processors of the machine have done since its start, in
// ticks, as Linux counts it.
type processors struct {
	user, nice, system, idle, iowait, irq, softirq uint64
	// steal is how long this machine waited because others used the hardware. It
	// is part of every measured time.
	steal uint64
}

func readProcessors() (p processors, err error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return processors{}, err
	}
	_, err = fmt.Fscanf(bytes.NewReader(stat), "cpu %d %d %d %d %d %d %d %d",
		&p.user, &p.nice, &p.system, &p.idle, &p.iowait, &p.irq, &p.softirq, &p.steal)
	if err != nil {
		return processors{}, fmt.Errorf("read the first line of /proc/stat: %w", err)
	}
	return p, nil
}

// busy is the time in which a processor had work and was there.
func (p processors) busy() uint64 { return p.user + p.nice + p.system + p.irq + p.softirq }

// busySince is the share of all time in which the processors had work.
func (p processors) busySince(before processors) float64 {
	all := func(p processors) uint64 { return p.busy() + p.steal + p.idle + p.iowait }
	passed := all(p) - all(before)
	if passed == 0 {
		return 0
	}
	return float64(p.busy()-before.busy()) / float64(passed)
}

// stolenSince is the stolen share of the time that this machine wanted.
func (p processors) stolenSince(before processors) float64 {
	wanted := p.busy() + p.steal - before.busy() - before.steal
	if wanted == 0 {
		return 0
	}
	return float64(p.steal-before.steal) / float64(wanted)
}
