package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"time"
)

// killRecovery is the promise after a kill: new events are visible.
const killRecovery = 15 * time.Second

// way is one fault for a running service. It returns when the fault is over,
// with that time.
type way struct {
	name string
	// seldom marks a fault that takes long: the long form has it in every fifth
	// round.
	seldom bool
	deal   func(x *session) (over time.Time, err error)
}

var ways = []way{
	{"kill service", false, func(x *session) (time.Time, error) {
		pid, exited := x.service.process()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return time.Time{}, err
		}
		<-exited
		return time.Now(), x.service.start()
	}},
	{"kill clickhouse", false, func(x *session) (time.Time, error) {
		_, err := x.service.signalChild(syscall.SIGKILL)
		return time.Now(), err
	}},
	{"kill both", false, func(x *session) (time.Time, error) {
		x.service.kill()
		return time.Now(), x.service.start()
	}},
	{"freeze service", true, func(x *session) (time.Time, error) {
		pid, _ := x.service.process()
		return freeze(pid, frozenFor(x.random))
	}},
	{"freeze clickhouse", true, func(x *session) (time.Time, error) {
		pid, err := x.service.signalChild(syscall.SIGSTOP)
		if err != nil {
			return time.Time{}, err
		}
		return freeze(pid, frozenFor(x.random))
	}},
}

func frozenFor(random *rand.Rand) time.Duration {
	return time.Second + time.Duration(random.Int64N(int64(4*time.Second)))
}

// freeze stops a process for a time.
func freeze(pid int, d time.Duration) (over time.Time, err error) {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return over, fmt.Errorf("freeze process %d: %w", pid, err)
	}
	time.Sleep(d) // reason: the process stays frozen for this time
	err = syscall.Kill(pid, syscall.SIGCONT)
	return time.Now(), err
}

// runKills injects kills and freezes into one service under load.
func runKills(ctx context.Context, g *gate, seed uint64) error {
	return g.dealAll(ctx, seed, "kills", g.rounds(2, 100), ways)
}

// dealAll injects each of the faults so many times into one service.
func (g *gate) dealAll(ctx context.Context, seed uint64, name string, rounds int, ways []way) error {
	x, end, err := g.serve(ctx, seed, name, filepath.Join(g.dir, name))
	if err != nil {
		return err
	}
	defer end()
	for round := range rounds {
		for _, w := range ways {
			if ctx.Err() != nil {
				return nil
			}
			if w.seldom && g.full() && round%5 > 0 {
				continue
			}
			r := g.begin(w.name, seed+uint64(round))
			x.deal(ctx, r, w)
			g.report(r)
		}
	}
	x.reportReplay(ctx)
	return nil
}

// deal lets the clients work, injects the fault, waits until the service has
// recovered, and compares.
func (x *session) deal(ctx context.Context, r *Result, w way) {
	x.load(ctx)
	defer x.stop()
	x.loadUntil(ctx, x.gate.sized(200, 5000), loadTime)
	// The fault comes at any moment.
	pause(ctx, time.Duration(x.random.Int64N(int64(500*time.Millisecond))))
	over, err := w.deal(x)
	if err != nil {
		r.violate("%v", err)
		return
	}
	if err := x.service.awaitUp(ctx); err != nil {
		r.violate("%v", err)
		return
	}
	x.recovered(ctx, r, over, killRecovery, killRecovery)
	x.loadUntil(ctx, x.gate.sized(200, 10_000), loadTime)
	x.verify(ctx, r)
}

// loadTime bounds how long the clients work between two faults.
const loadTime = 20 * time.Second

// end counts what the session has sent.
func (x *session) end() {
	x.stop()
	events, _ := x.ledger.Accepted()
	x.gate.accepted.Add(int64(events))
}

// runFirstStart kills services during their first start, several times each,
// and then lets them start.
func runFirstStart(ctx context.Context, g *gate, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 3))
	for i := range g.rounds(3, 20) {
		s, err := g.newService(fmt.Sprintf("first-start-%d", i), filepath.Join(g.dir, fmt.Sprintf("first-%d", i)))
		if err != nil {
			return err
		}
		r := g.begin("kill during the first start", seed+uint64(i))
		firstStart(ctx, g, s, r, random)
		s.kill()
		g.report(r)
	}
	return nil
}

func firstStart(ctx context.Context, g *gate, s *service, r *Result, random *rand.Rand) {
	for range 1 + random.IntN(4) {
		if err := s.start(); err != nil {
			r.violate("%v", err)
			return
		}
		moment := time.Duration(random.Int64N(int64(1500 * time.Millisecond)))
		r.Detail += fmt.Sprintf("%v ", moment.Round(time.Millisecond))
		pause(ctx, moment)
		s.kill()
	}
	x, err := g.newSession(ctx, s, r.Seed)
	if err != nil {
		r.violate("%v", err)
		return
	}
	defer x.end()
	x.recovered(ctx, r, s.started, killRecovery, killRecovery)
	x.load(ctx)
	x.loadUntil(ctx, 100, loadTime)
	x.verify(ctx, r)
}
