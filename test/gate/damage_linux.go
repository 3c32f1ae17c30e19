package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// noticeLimit is the promise for damage: it is reported within this time.
	noticeLimit = 70 * time.Second
	// damageVisible is the promise for new events after a start on damaged data.
	damageVisible = 10 * time.Second
	// templateEvents, each of fillBytes, make a log of several block files.
	templateEvents = 9000
	fillBytes      = 4000
	noticePause    = 400 * time.Millisecond
	// lastLook is for an alarm that is raised when the records are exact already.
	lastLook = 2 * time.Second
)

// template is a data folder with records and a log; each damage gets a copy.
type template struct {
	session *session
	data    string
	failing map[string]check // without any damage, such as a small disk
}

// newTemplate fills a service in two phases and stops it cleanly. Between the
// phases it calls middle with the service stopped.
func (g *gate) newTemplate(ctx context.Context, name string, seed uint64, events int, middle func(data string) error) (t *template, err error) {
	t = &template{data: filepath.Join(g.dir, name)}
	s, err := g.newService(name, t.data)
	if err != nil {
		return nil, err
	}
	defer s.kill()
	defer func() {
		if t != nil && t.session != nil {
			t.session.end()
		}
	}()
	if t.session, err = g.newSession(ctx, s, seed); err != nil {
		return nil, err
	}
	for _, sender := range t.session.senders {
		sender.fill = fillBytes
	}
	for phase := range 2 {
		t.session.load(ctx)
		t.session.loadUntil(ctx, events/2, 3*time.Minute)
		r := &Result{}
		t.session.verify(ctx, r)
		if len(r.Violations) > 0 {
			return nil, fmt.Errorf("before any fault: %s", strings.Join(r.Violations, "; "))
		}
		if t.failing, err = s.failing(ctx); err != nil {
			return nil, err
		}
		if phase == 1 || middle == nil {
			continue
		}
		if err := errors.Join(s.stop(), middle(t.data), s.start()); err != nil {
			return nil, err
		}
		if err := s.awaitUp(ctx); err != nil {
			return nil, err
		}
	}
	return t, s.stop()
}

// clone is a session on a copy of the template; its service is not running.
func (t *template) clone(g *gate, name string, seed uint64) (*session, error) {
	data := filepath.Join(g.dir, name)
	if err := copyDir(t.data, data); err != nil {
		return nil, err
	}
	s, err := g.newService(name, data)
	if err != nil {
		return nil, err
	}
	x := &session{
		gate: g, service: s, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), probes: map[string]int{},
		stop: func() {}, giveUp: func() {}, ledger: t.session.ledger.Clone(),
	}
	if err := x.join(); err != nil {
		return nil, err
	}
	for i, sender := range x.senders {
		sender.next = t.session.senders[i].next
	}
	x.owner = t.session.owner.clone(x.owner.doors, s, seed)
	return x, s.readAdmin()
}

// copyDir copies a folder with all attributes of its files.
func copyDir(from, to string) error {
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}

// planted is one damage to do to one kind of file.
type planted struct {
	kind kind
	harm harm
}

// plan is every damage of the form. The short form flips a bit in each kind of
// file, cuts one file and deletes one, as the seed chooses.
func (g *gate) plan(random *rand.Rand) (all []planted) {
	for _, k := range kinds {
		all = append(all, planted{k, flip})
		if g.full() {
			all = append(all, planted{k, short}, planted{k, gone})
		}
	}
	if !g.full() {
		all = append(all, planted{kinds[random.IntN(len(kinds))], short}, planted{kinds[random.IntN(len(kinds))], gone})
	}
	// Nothing is left to notice of a deleted part once its rows were made again
	// from the log.
	part := kind{name: "records part", silent: true, find: func(data string) ([]string, error) {
		dir, err := tableDir(data, "records")
		if err != nil {
			return nil, err
		}
		path, err := largestPart(dir)
		return []string{path}, err
	}}
	return append(all, planted{part, gone})
}

// runDamage plants each damage in a copy of the same data.
func runDamage(ctx context.Context, g *gate, seed uint64) error {
	t, err := g.newTemplate(ctx, "original", seed, g.past, nil)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(seed, 4))
	slots := make(chan struct{}, g.parallel)
	var running sync.WaitGroup
	for i, p := range g.plan(random) {
		if ctx.Err() != nil || !matches(p.name(), g.damage) {
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			r := g.begin(p.name(), seed+uint64(i))
			if err := g.damaged(ctx, r, t, p, fmt.Sprintf("copy-%d", i)); err != nil {
				r.violate("%v", err)
			}
			g.report(r)
		})
	}
	running.Wait()
	return nil
}

func (p planted) name() string { return p.harm.name + ": " + p.kind.name }

// damaged starts a service on a copy with the damage, and watches it.
func (g *gate) damaged(ctx context.Context, r *Result, t *template, p planted, name string) error {
	x, err := t.clone(g, name, r.Seed)
	if err != nil {
		return err
	}
	defer os.RemoveAll(x.service.data)
	defer x.service.kill()
	files, err := p.kind.find(x.service.data)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there is no file of the kind %q", p.kind.name)
	}
	slices.Sort(files)
	path := files[x.random.IntN(len(files))]
	harmed, err := p.harm.do(path, x.random)
	if err != nil {
		return err
	}
	within, _ := filepath.Rel(x.service.data, path)
	r.Detail = within + ": " + harmed
	if err := x.service.start(); err != nil {
		return err
	}
	x.watch(ctx, r, t.failing, p.kind.silent)
	if p.kind.accepted && r.Noticed != "" && x.service.running() {
		x.accept(ctx, r, t.failing)
	}
	return nil
}

// acceptCommand is the command of an operator after facts of the log are lost.
var acceptCommand = []string{"log", "accept", "--by", "gate"}

// accept runs that command: no check fails afterwards.
func (x *session) accept(ctx context.Context, r *Result, usual map[string]check) {
	if _, err := x.service.run(ctx, "doctor"); err == nil {
		r.violate("errata doctor ends with 0 while %s is red", r.Noticed)
	}
	r.Hands = append(r.Hands, "errata "+strings.Join(acceptCommand, " "))
	if _, err := x.service.run(ctx, acceptCommand...); err != nil {
		r.violate("%v", err)
		return
	}
	x.green(ctx, r, usual)
}

// green waits until no check fails that did not fail before the damage.
func (x *session) green(ctx context.Context, r *Result, usual map[string]check) {
	var red []string
	err := x.service.poll(ctx, x.gate.limit(damageVisible), func(ctx context.Context) bool {
		red = red[:0]
		if code := x.service.ready(ctx); code != "" {
			red = append(red, "readyz "+code)
		}
		failing, err := x.service.failing(ctx)
		for name := range failing {
			if _, known := usual[name]; !known {
				red = append(red, name)
			}
		}
		return err == nil && len(red) == 0
	})
	if err != nil {
		r.violate("it is still red after all that an operator has done: %s", strings.Join(red, ", "))
	}
}

// watch follows a service that was started on damaged data. It checks that the
// damage is noticed, new events are visible, lists answer, and the records are
// exact.
func (x *session) watch(ctx context.Context, r *Result, usual map[string]check, silent bool) {
	noticing, cancel := context.WithCancel(ctx)
	defer cancel()
	since := x.service.started
	noticed := make(chan struct{})
	go func() { // ends with its limit or its context
		defer close(noticed)
		r.Noticed, r.NoticedMS = x.notice(noticing, since, usual)
	}()
	took, err := x.probe(ctx, since, x.gate.limit(damageVisible))
	r.RecoveryMS = took.Milliseconds()
	if err != nil {
		r.violate("%v", err)
	}
	if !x.service.running() {
		cancel()
		<-noticed
		r.Noticed = "ended"
		r.violate("the service ended: %s", x.service.lastWords())
		return
	}
	good := x.awaitExact(ctx, since, noticed)
	r.ListsMS = time.Since(since).Milliseconds()
	if good != nil && (silent || x.toldInLog() != "") {
		// The records are exact, and the damage was reported or needs no
		// report. After this time no check will fail any more.
		time.AfterFunc(lastLook, cancel)
	}
	<-noticed
	if good == nil {
		good = &Result{}
		x.compare(ctx, good)
		if err := x.service.viewsAnswer(ctx); err != nil {
			good.violate("lists do not answer: %v", err)
		}
	}
	r.Accepted, r.Verdict, r.Violations = good.Accepted, good.Verdict, append(r.Violations, good.Violations...)
	if r.Noticed == "" && !silent {
		if r.Noticed = x.toldInLog(); r.Noticed == "" {
			r.violate("the damage is not noticed within %v: /readyz, doctor and the log say nothing", x.gate.limit(noticeLimit))
		}
	}
}

// awaitExact compares until the records are exact and all lists answer; nil
// when they are not within the time for noticing.
func (x *session) awaitExact(ctx context.Context, since time.Time, noticed <-chan struct{}) *Result {
	for time.Since(since) < x.gate.limit(noticeLimit) && ctx.Err() == nil && x.service.running() {
		r := &Result{}
		x.compare(ctx, r)
		if len(r.Violations) == 0 && x.service.viewsAnswer(ctx) == nil {
			return r
		}
		select {
		case <-noticed:
			pause(ctx, 2*time.Second)
		default:
			pause(ctx, time.Second)
		}
	}
	return nil
}

// notice waits until readiness or a check fails that did not fail before.
func (x *session) notice(ctx context.Context, since time.Time, usual map[string]check) (where string, took int64) {
	limit, cancel := context.WithDeadline(ctx, since.Add(x.gate.limit(noticeLimit)))
	defer cancel()
	for limit.Err() == nil {
		var places []string
		if x.service.ready(limit) == "degraded" {
			places = append(places, "readyz")
		}
		failing, _ := x.service.failing(limit) // one that does not answer says nothing
		for name := range failing {
			if _, known := usual[name]; !known {
				places = append(places, name)
			}
		}
		if len(places) > 0 {
			slices.Sort(places)
			return strings.Join(places, ","), time.Since(since).Milliseconds()
		}
		pause(limit, noticePause)
	}
	return "", 0
}

// toldInLog is for damage that was repaired before a check could see it: the
// service's own log reports it as a warning or an error.
func (x *session) toldInLog() string {
	for row := range strings.Lines(x.service.said()) {
		if strings.Contains(row, `"engine":`) || !strings.Contains(row, `"level":"WARN"`) && !strings.Contains(row, `"level":"ERROR"`) {
			continue
		}
		for _, word := range []string{"damage", "broken", "mended", "repaired", "missing", "gap", "unreadable"} {
			if strings.Contains(row, word) {
				return "log: " + word
			}
		}
	}
	return ""
}
