// Package proc reads what Linux says about the processors and the processes of this
// machine, for benchmarks and for the pace of inserts.
package proc

import (
	"bytes"
	"fmt"
	"os"
)

// MicrosPerTick is the length of a tick in µs: Linux shows every process a hundred a second.
const MicrosPerTick = 10_000

// Processors is what the processors of the machine have done since its start, in
// ticks, as Linux counts it.
type Processors struct {
	user, nice, system, idle, iowait, irq, softirq uint64
	// steal is how long this machine waited because others used the hardware. It
	// is part of every measured time.
	steal uint64
}

// ReadProcessors reads /proc/stat.
func ReadProcessors() (p Processors, err error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Processors{}, err
	}
	return ParseProcessors(stat)
}

// ParseProcessors reads the first line of /proc/stat, which is of all processors together.
func ParseProcessors(stat []byte) (p Processors, err error) {
	_, err = fmt.Fscanf(bytes.NewReader(stat), "cpu %d %d %d %d %d %d %d %d",
		&p.user, &p.nice, &p.system, &p.idle, &p.iowait, &p.irq, &p.softirq, &p.steal)
	if err != nil {
		return Processors{}, fmt.Errorf("read the first line of /proc/stat: %w", err)
	}
	return p, nil
}

// Busy is the time in which a processor had work and was there.
func (p Processors) Busy() uint64 { return p.user + p.nice + p.system + p.irq + p.softirq }

// BusyMicros is the processor time in µs that all work together took after before.
func (p Processors) BusyMicros(before Processors) float64 {
	return float64(p.Busy()-before.Busy()) * MicrosPerTick
}

// BusySince is the share of all time in which the processors had work.
func (p Processors) BusySince(before Processors) float64 {
	all := func(p Processors) uint64 { return p.Busy() + p.steal + p.idle + p.iowait }
	passed := all(p) - all(before)
	if passed == 0 {
		return 0
	}
	return float64(p.Busy()-before.Busy()) / float64(passed)
}

// StolenSince is the stolen share of the time that this machine wanted.
func (p Processors) StolenSince(before Processors) float64 {
	wanted := p.Busy() + p.steal - before.Busy() - before.steal
	if wanted == 0 {
		return 0
	}
	return float64(p.steal-before.steal) / float64(wanted)
}
