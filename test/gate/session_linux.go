package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

const (
	senders = 4
	// finishLimit is how long requests under way may take to be accepted after
	// a fault.
	finishLimit = 90 * time.Second
	// visibleLimit is how long the records may take to reach the end of the log.
	visibleLimit = 60 * time.Second
	// details is how many records a comparison reads with their payload.
	details = 12
	// probeSender is the sender number of probes, single events after a fault.
	probeSender = 900
)

// session is one service with its clients and what they know.
type session struct {
	gate    *gate
	service *service
	ledger  *referee.Ledger
	senders []*sender
	owner   *owner
	random  *rand.Rand
	seed    uint64
	probes  map[string]int // classes of probes, with how often each was accepted

	tries     int    // events sent by awaitAccepted
	stop      func() // ends the load when all requests under way are accepted
	giveUp    func() // ends it at once
	abandoned atomic.Bool
}

// newSession starts a service on a folder and makes its clients, which wait for
// [session.load].
func (g *gate) newSession(ctx context.Context, s *service, seed uint64) (*session, error) {
	x := &session{
		gate: g, service: s, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), probes: map[string]int{}, stop: func() {}, giveUp: func() {},
		ledger: referee.NewLedger(referee.World{Seed: seed, Base: time.Now(), Problems: g.problems}),
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	if err := s.awaitUp(ctx); err != nil {
		return nil, err
	}
	return x, x.join()
}

// serve starts a service with a session; end ends both.
func (g *gate) serve(ctx context.Context, seed uint64, name, data string, args ...string) (x *session, end func(), err error) {
	s, err := g.newService(name, data, args...)
	if err != nil {
		return nil, nil, err
	}
	if x, err = g.newSession(ctx, s, seed); err != nil {
		s.kill()
		return nil, nil, err
	}
	return x, func() {
		x.end()
		s.kill()
	}, nil
}

// join makes the clients, when the keys of the first start exist.
func (x *session) join() error {
	d, err := x.doors()
	if err != nil {
		return err
	}
	for i := range senders {
		x.senders = append(x.senders, &sender{
			doors: d, number: i + 1, ledger: x.ledger, batch: x.gate.batch, pace: x.gate.pace,
			random: rand.New(rand.NewPCG(x.seed, uint64(i+1))),
		})
	}
	x.owner = newOwner(d, x.service, senders+1, x.seed, x.ledger.World.Base)
	return nil
}

// doors reads the keys that clients use.
func (x *session) doors() (doors, error) {
	ingest, err := x.service.key("ingest.key")
	if err != nil {
		return doors{}, err
	}
	dsn, err := x.service.key("dsn")
	if err != nil {
		return doors{}, err
	}
	user, _, ok := strings.Cut(strings.TrimPrefix(dsn, "http://"), "@")
	if !ok {
		return doors{}, errors.New("the DSN of the service has no key")
	}
	return doors{
		addr: x.service.addr, key: ingest, dsnKey: user, journal: x.gate.journal,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders + 1}},
	}, nil
}

// load starts the clients; x.stop ends them when their requests under way are
// accepted.
func (x *session) load(ctx context.Context) {
	working, cancel := context.WithCancel(ctx)
	abandon, giveUp := context.WithCancel(ctx)
	var done sync.WaitGroup
	for _, s := range x.senders {
		done.Go(func() { s.run(working, abandon) })
	}
	done.Go(func() { x.owner.run(working, abandon) })
	x.giveUp = sync.OnceFunc(func() {
		x.abandoned.Store(true)
		cancel()
		giveUp()
		done.Wait()
	})
	x.stop = sync.OnceFunc(func() {
		cancel()
		late := time.AfterFunc(x.gate.limit(finishLimit), func() { x.abandoned.Store(true); giveUp() })
		done.Wait()
		late.Stop()
		giveUp()
	})
}

// loadUntil lets the clients work until that many more events are accepted.
func (x *session) loadUntil(ctx context.Context, events int, limit time.Duration) {
	before, _ := x.ledger.Accepted()
	deadline := time.Now().Add(limit)
	for ctx.Err() == nil && time.Now().Before(deadline) {
		if now, _ := x.ledger.Accepted(); now-before >= events {
			return
		}
		pause(ctx, pollPause)
	}
}

// settle sends the events in doubt until they are accepted.
func (x *session) settle(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, x.gate.limit(finishLimit))
	defer cancel()
	s := x.senders[0]
	for _, e := range x.ledger.Doubtful() {
		for s.native(limit, []referee.Event{e}) != accepted {
			if limit.Err() != nil {
				return fmt.Errorf("event %s is not accepted within %s", e.ID, finishLimit)
			}
			pause(limit, pollPause)
		}
		x.ledger.Accept([]referee.Event{e})
	}
	return nil
}

// probe sends one event with a class of its own and returns how long after
// since it was visible.
func (x *session) probe(ctx context.Context, since time.Time, limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithDeadline(ctx, since.Add(limit))
	defer cancel()
	n := len(x.probes)
	class := probeClass + letters(n)
	e := referee.Event{Sender: probeSender, N: n, ID: referee.ID(probeSender, n), At: time.Now().UTC().Truncate(time.Millisecond)}
	x.probes[class] = 0 // it may arrive, whatever the answer
	got := unknown
	for got != accepted {
		if ctx.Err() != nil {
			return time.Since(since), fmt.Errorf("a new event is not accepted within %s (%s)", limit, got)
		}
		if got = x.owner.send(ctx, class, e); got != accepted {
			pause(ctx, pollPause)
		}
	}
	x.probes[class] = 1
	last := errors.New("its record is not there")
	for {
		record, err := x.service.find(ctx, class)
		if record.Count > 0 {
			return time.Since(since), nil
		}
		if ctx.Err() != nil {
			return time.Since(since), fmt.Errorf("a new event is accepted and not visible within %s (%w)", limit, last)
		}
		if err != nil {
			last = err
		}
		pause(ctx, pollPause)
	}
}

const probeClass = "Probed"

// letters writes a number with five letters from g to z: no class contains
// another one, none is cut, and no part of it looks like a number.
func letters(n int) string {
	const first, count = 'g', 20
	var text [5]byte
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = byte(first + n%count)
		n /= count
	}
	return string(text[:])
}
