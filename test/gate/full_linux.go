package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/test/gate/disk"
)

const (
	// smallDisk is the size of the disks that the gate fills.
	smallDisk = 1 << 30
	// fullAtLeast is how long a disk stays full.
	fullAtLeast = 5 * time.Second
	// roomRecovery is the promise after there is room again.
	roomRecovery = 10 * time.Second
)

// runFull fills the disk of the whole data folder, and then that of ClickHouse
// alone.
func runFull(ctx context.Context, g *gate, seed uint64) error {
	for i, f := range []struct{ name, mount string }{
		{"disk full", "."},
		{"disk full for clickhouse", "clickhouse"},
	} {
		for round := range g.rounds(1, 3) {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the rounds that ended count
			}
			r := g.begin(f.name, seed+uint64(round))
			data := filepath.Join(g.dir, fmt.Sprintf("full-%d-%d", i, round))
			if err := g.fullDisk(ctx, r, data, filepath.Join(data, f.mount)); err != nil {
				r.violate("%v", err)
			}
			g.report(r)
		}
	}
	return nil
}

// fullDisk runs a service with a small disk mounted in its data folder.
func (g *gate) fullDisk(ctx context.Context, r *Result, data, mount string) (err error) {
	if err := os.MkdirAll(mount, 0o700); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", smallDisk)); err != nil {
		return fmt.Errorf("mount a small disk: %w", err)
	}
	s, err := g.newService(filepath.Base(data), data)
	if err != nil {
		return err
	}
	defer func() {
		s.kill()
		err = errors.Join(err, disk.Unmount(mount))
	}()
	x, err := g.newSession(ctx, s, r.Seed)
	if err != nil {
		return err
	}
	defer x.end()
	usual, err := s.failing(ctx)
	if err != nil {
		return err
	}
	x.load(ctx)
	x.loadUntil(ctx, 300, loadTime)
	filler := filepath.Join(mount, "filler")
	size, err := fill(filler)
	if err != nil {
		return err
	}
	began := time.Now()
	r.Noticed, r.NoticedMS = x.notice(ctx, began, usual)
	if r.Noticed == "" {
		r.violate("the full disk is not noticed within %v", g.limit(noticeLimit))
	}
	pause(ctx, fullAtLeast-time.Since(began))
	r.Detail = fmt.Sprintf("%d MiB of something else, for %v", size>>20, time.Since(began).Round(time.Second))
	if err := os.Remove(filler); err != nil {
		return fmt.Errorf("free the disk: %w", err)
	}
	x.recovered(ctx, r, time.Now(), roomRecovery, roomRecovery)
	x.loadUntil(ctx, 200, loadTime)
	x.verify(ctx, r)
	return nil
}

// fill takes all free room, down to the last page.
func fill(path string) (size int64, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, fmt.Errorf("fill the disk: %w", err)
	}
	defer file.Close()
	block := make([]byte, 1<<20)
	for {
		n, err := file.Write(block)
		size += int64(n)
		switch {
		case errors.Is(err, unix.ENOSPC) && len(block) <= 4096:
			return size, nil
		case errors.Is(err, unix.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			return size, fmt.Errorf("fill the disk: %w", err)
		}
	}
}
