package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/errata-log/errata/internal/proc"
)

const (
	// A service that nobody uses may take so many percent of one processor, and so many bytes
	// of resident memory.
	idleProcessor, idleMemory = 0.5, 300e6
)

// idle measures a service that nobody uses beside the engines alone. Before each measurement it
// waits as long as that takes.
func (b *bench) idle() error {
	alone, err := b.enginesIdle()
	if err != nil {
		return err
	}
	return b.withService("idle", unlimited(), func() error {
		service, err := b.rests()
		if err != nil {
			return err
		}
		row{name: "idle", ours: service.percent, ceiling: alone.percent, unit: "% of one", limit: idleProcessor, note: fmt.Sprintf("processor; the engines alone beside it; over %v", b.idleFor)}.write(b.out)
		row{name: "memory meanwhile", ours: service.memory / megabyte, ceiling: alone.memory / megabyte, unit: "MB", limit: idleMemory / megabyte}.write(b.out)
		return nil
	})
}

func (b *bench) enginesIdle() (r resting, err error) {
	_, stop, err := b.engines(filepath.Join(b.dir, "engines"))
	if err != nil {
		return resting{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	return b.rests()
}

// resting is what this process and ClickHouse take while nobody asks for anything.
type resting struct {
	percent float64 // of one processor
	memory  float64 // resident, in bytes
}

func (b *bench) rests() (resting, error) {
	time.Sleep(b.idleFor) // reason: rest is what is measured
	before, err := usedBySelf()
	if err != nil {
		return resting{}, err
	}
	began := time.Now()
	time.Sleep(b.idleFor) // reason: rest is what is measured
	after, err := usedBySelf()
	if err != nil {
		return resting{}, err
	}
	return resting{100 * after.Since(before).Seconds() / time.Since(began).Seconds(), float64(after.Resident)}, nil
}

// usedBySelf is what this process and its children use.
func usedBySelf() (proc.Usage, error) { return proc.Families("/proc", []int{os.Getpid()}, 0) }
