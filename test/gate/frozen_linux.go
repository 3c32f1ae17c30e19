package main

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

const (
	// anotherServer is the promise when the NATS server of the service is frozen:
	// the service connects to another one and takes events within this time.
	anotherServer = 5 * time.Second
	// election is the longest time until the other servers elect a new leader
	// of the log when the frozen one led it: nats-server draws 4 to 9 s, which
	// cannot be set.
	election = 9 * time.Second
	// standstill is the time until none of its threads runs any more and its
	// earlier answers have arrived.
	standstill = 300 * time.Millisecond
	// frozenServer is how long the server stays frozen.
	frozenServer = 20 * time.Second
)

// runFrozen freezes the NATS server of the service, one of three that keep
// three copies of every stream.
func runFrozen(ctx context.Context, g *gate, seed uint64) error {
	c, err := g.newCluster(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	x, end, err := g.serve(ctx, seed, "frozen", filepath.Join(g.dir, "frozen"), "--nats-url", c.urls(), "--nats-replicas", "3", "--log-max-bytes", "1GiB")
	if err != nil {
		return err
	}
	defer end()
	for i := range g.rounds(2, 6) {
		if ctx.Err() != nil {
			return nil
		}
		r := g.begin("NATS server frozen", seed+uint64(i))
		if err := x.freezeServer(ctx, r, c, i); err != nil {
			r.violate("%v", err)
		}
		g.report(r)
	}
	return nil
}

// freezeServer freezes the server, measures until events are taken again,
// continues the server, and compares.
func (x *session) freezeServer(ctx context.Context, r *Result, c *cluster, round int) error {
	x.load(ctx)
	defer x.stop()
	x.loadUntil(ctx, 300, loadTime)
	pid, _ := x.service.process()
	attached, err := c.attached(pid)
	if err != nil {
		return err
	}
	still := attached[round%len(attached)]
	led, err := still.leads(ctx, x.gate.http)
	if err != nil {
		return err
	}
	frozen := still.cmd.Process.Pid
	if err := syscall.Kill(frozen, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("freeze a NATS server: %w", err)
	}
	pause(ctx, standstill)
	began := time.Now()
	thaw := func() { _ = syscall.Kill(frozen, syscall.SIGCONT) } // it may have ended
	defer thaw()
	limit := x.gate.limit(anotherServer)
	left, err := c.awaitLeft(ctx, pid, still, began, frozenServer)
	if err != nil {
		r.violate("%v", err)
	} else if left > limit {
		r.violate("another server was taken %v after this one stood still, want %v", left.Round(time.Millisecond), limit)
	}
	if led {
		limit += election
	}
	took, err := x.awaitAccepted(ctx, began, frozenServer)
	r.Detail = fmt.Sprintf("connected to %d servers; it led the log: %t; another one taken after %v, events after %v",
		len(attached), led, left.Round(time.Millisecond), took.Round(time.Millisecond))
	if err != nil {
		r.violate("%v while the server stands still", err)
	} else if took > limit {
		r.violate("events were taken again %v after the server stood still, want %v", took.Round(time.Millisecond), limit)
	}
	pause(ctx, frozenServer-time.Since(began))
	thaw()
	x.recovered(ctx, r, time.Now(), killRecovery, killRecovery)
	x.verify(ctx, r)
	return c.awaitHealthy(ctx)
}

// awaitAccepted sends events until one that was sent after since is accepted.
func (x *session) awaitAccepted(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithDeadline(ctx, since.Add(limit))
	defer cancel()
	s := &sender{doors: x.senders[0].doors, number: probeSender + 1, ledger: x.ledger, random: x.random, next: x.tries}
	for ctx.Err() == nil {
		e := []referee.Event{x.ledger.World.Event(s.number, s.next)}
		s.next++
		x.tries = s.next
		// The limit is short, so that a request that hangs does not delay the
		// next.
		try, end := context.WithTimeout(ctx, time.Second)
		got := s.native(try, e)
		end()
		if got == accepted {
			x.ledger.Accept(e)
			return time.Since(since), nil
		}
		x.ledger.Doubt(e)
		pause(ctx, pollPause)
	}
	return time.Since(since), fmt.Errorf("no event is accepted within %v", limit)
}
