package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/errata-log/errata/test/gate/disk"
)

const (
	// diskBytes is the size of the disk that loses power; the image is sparse.
	diskBytes = 6 << 30
	// powerRecovery is the promise after a power cut: new events are visible,
	// and every list and search answers.
	powerRecovery = 10 * time.Second
	// selfCuts is how often the disk itself is cut before its results count.
	selfCuts = 6
)

// newDisk makes a disk in a folder of its own.
func (g *gate) newDisk(name string, size int64) (*disk.Disk, error) {
	dir := filepath.Join(g.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	return disk.New(dir, size)
}

// runPower cuts the power of a service under load.
func runPower(ctx context.Context, g *gate, seed uint64) error {
	if err := checkDisk(g, seed); err != nil {
		return err
	}
	d, err := g.newDisk("power", diskBytes)
	if err != nil {
		return err
	}
	defer func() { reportClose(g, d.Close()) }()
	x, end, err := g.serve(ctx, seed, "power", filepath.Join(d.Path(), "data"))
	if err != nil {
		return err
	}
	defer end()
	for i := range g.rounds(6, 60) {
		if ctx.Err() != nil {
			return nil
		}
		r := g.begin("power cut", seed+uint64(i))
		err := x.cut(ctx, r, d)
		g.report(r)
		if err != nil {
			return err
		}
	}
	x.reportReplay(ctx)
	return nil
}

// reportClose reports an error of taking the disk down.
func reportClose(g *gate, err error) {
	if err != nil {
		fmt.Fprintln(g.print, "gate:", err)
	}
}

// cut lets the clients work, cuts the power, powers on again, starts the
// service, and compares. The error means that the disk itself failed.
func (x *session) cut(ctx context.Context, r *Result, d *disk.Disk) error {
	x.load(ctx)
	defer x.stop()
	x.loadUntil(ctx, x.gate.sized(300, 5000), loadTime)
	pause(ctx, time.Duration(x.random.Int64N(int64(2*time.Second))))
	loss, err := d.Cut(x.random, x.service.kill)
	r.Detail = fmt.Sprintf("%d unflushed writes: %d kept, %d torn, %d dropped; %d flushes before", loss.Writes, loss.Kept, loss.Torn, loss.Dropped, loss.Flushes)
	if err != nil {
		r.violate("%v", err)
		return err
	}
	if err := d.On(); err != nil {
		r.violate("%v", err)
		return err
	}
	over := time.Now()
	if err := x.service.start(); err != nil {
		return err
	}
	if err := x.service.awaitUp(ctx); err != nil {
		r.violate("%v", err)
		return nil
	}
	x.recovered(ctx, r, over, powerRecovery, powerRecovery)
	x.loadUntil(ctx, x.gate.sized(200, 10_000), loadTime)
	x.verify(ctx, r)
	return nil
}

// checkDisk checks that the disk keeps what is flushed and loses what is not.
func checkDisk(g *gate, seed uint64) error {
	dir := filepath.Join(g.dir, "disk-check")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	r := g.begin("check of the disk itself", seed)
	report, err := disk.Check(dir, seed, selfCuts)
	r.Detail = fmt.Sprintf("%d cuts: %d files with fsync whole; without it %d gone, %d damaged", report.Cuts, report.Synced, report.Missing, report.Damaged)
	if err != nil {
		r.violate("%v", err)
	}
	g.report(r)
	return err
}

// runControl cuts the power of a service that answers before its events are on
// disk. It must lose events: a check that finds no loss here would find none in
// the other cuts.
func runControl(ctx context.Context, g *gate, seed uint64) error {
	r := g.begin("control: lazy sync must lose", seed)
	defer g.report(r)
	for try := range controlTries {
		seen, lost, err := g.control(ctx, fmt.Sprintf("control-%d", try), seed+uint64(try))
		if err != nil {
			return err
		}
		r.Detail += fmt.Sprintf("%d: %.300s. ", try+1, seen)
		if lost > 0 || ctx.Err() != nil {
			return nil
		}
	}
	r.violate("after %d power cuts of a service with --lazy-sync no lost event was seen: the gate does not see losses", controlTries)
	return nil
}

// controlTries is for cuts after which the service does not start at all: that
// is a loss too, but does not prove that lost events are counted.
const controlTries = 6

// control is one such cut; it returns a description and the number of lost
// events.
func (g *gate) control(ctx context.Context, name string, seed uint64) (seen string, lost int, err error) {
	d, err := g.newDisk(name, diskBytes)
	if err != nil {
		return "", 0, err
	}
	defer func() { reportClose(g, d.Close()) }()
	x, end, err := g.serve(ctx, seed, name, filepath.Join(d.Path(), "data"), "--lazy-sync")
	if err != nil {
		return "", 0, err
	}
	defer end()
	// A log whose own files are lost makes the service refuse to start. Here it
	// shall start, and its events shall be lost.
	if err := d.Sync(); err != nil {
		return "", 0, err
	}
	x.load(ctx)
	x.loadUntil(ctx, 500, loadTime)
	if _, err := d.Cut(x.random, x.service.kill); err != nil {
		return "", 0, err
	}
	if err := d.On(); err != nil {
		return "", 0, err
	}
	if err := x.service.start(); err != nil {
		return "", 0, err
	}
	// Requests under way are not sent again here: the keys may be lost as well.
	x.giveUp()
	if err := x.service.awaitUp(ctx); err != nil {
		return err.Error(), 0, nil
	}
	r := &Result{}
	x.compare(ctx, r)
	return fmt.Sprintf("lost %d of %d; %s", r.Lost, r.Accepted, strings.Join(r.Violations, "; ")), r.Lost, nil
}
