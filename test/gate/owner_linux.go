package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

const ownedProblems = 6

// owner sends events of its own problems, deletes them and changes their
// status, one request after the other, each until it succeeds.
type owner struct {
	doors
	service  *service
	number   int // its number as a sender
	random   *rand.Rand
	base     time.Time
	next     int
	problems []*referee.Owned
}

func newOwner(d doors, s *service, number int, seed uint64, base time.Time) *owner {
	o := &owner{doors: d, service: s, number: number, base: base, random: rand.New(rand.NewPCG(seed, uint64(number)))}
	for i := range ownedProblems {
		o.problems = append(o.problems, &referee.Owned{Class: referee.OwnedClass(number, i)})
	}
	return o
}

// clone continues from the same knowledge against another service.
func (o *owner) clone(d doors, s *service, seed uint64) *owner {
	c := newOwner(d, s, o.number, seed, o.base)
	c.next = o.next
	for i, p := range o.problems {
		*c.problems[i] = *p
	}
	return c
}

func (o *owner) run(ctx, abandon context.Context) {
	for ctx.Err() == nil {
		p := o.problems[o.random.IntN(len(o.problems))]
		switch n := o.random.IntN(10); {
		case n < 6 || p.Signature == "":
			o.sight(abandon, p)
		case n < 8:
			o.delete(abandon, p)
		default:
			o.move(abandon, p)
		}
		if abandon.Err() != nil {
			return
		}
	}
}

// until repeats try until it succeeds or the run is given up.
func (o *owner) until(ctx context.Context, try func() bool) bool {
	for !try() {
		if ctx.Err() != nil {
			return false
		}
		pause(ctx, time.Duration(1+o.random.IntN(40))*time.Millisecond)
	}
	return true
}

// sight sends one event of the problem, sometimes twice.
func (o *owner) sight(ctx context.Context, p *referee.Owned) {
	e := referee.Event{
		Sender: o.number, N: o.next, ID: referee.ID(o.number, o.next),
		At: o.base.Add(-time.Duration(o.random.Int64N(int64(time.Hour)))).UTC().Truncate(time.Millisecond),
	}
	o.next++
	send := func() bool { return o.send(ctx, p.Class, e) == accepted }
	if !o.until(ctx, send) {
		return
	}
	p.Sight(e.ID, e.At)
	if o.random.IntN(6) == 0 {
		send() // whether it arrives or not
	}
	if p.Signature == "" {
		o.until(ctx, func() bool { return o.find(ctx, p) })
	}
}

func (o *owner) send(ctx context.Context, class string, e referee.Event) outcome {
	body := fmt.Sprintf(`{"id":%q,"time":%q,"level":"error","message":"it broke","exception_class":%q,"file":"src/app.go","line":7,"user_id":1}`,
		e.ID, e.At.Format(time.RFC3339Nano), class)
	return o.postNative(ctx, map[string]string{}, []byte(body), []referee.Event{e})
}

// find asks for the signature; there is none until the event is visible.
func (o *owner) find(ctx context.Context, p *referee.Owned) bool {
	r, err := o.service.find(ctx, p.Class)
	p.Signature = r.Signature
	return err == nil && p.Signature != ""
}

func (o *owner) delete(ctx context.Context, p *referee.Owned) {
	if o.command(ctx, http.MethodDelete, "", `{"signatures":["`+p.Signature+`"]}`) {
		p.Delete()
	}
}

func (o *owner) move(ctx context.Context, p *referee.Owned) {
	to := []string{"open", "resolved", "muted"}[o.random.IntN(3)]
	if o.command(ctx, http.MethodPost, "/status", `{"signatures":["`+p.Signature+`"],"status":"`+to+`"}`) {
		p.Move(to)
	}
}

func (o *owner) command(ctx context.Context, method, path, body string) bool {
	return o.until(ctx, func() bool {
		err := o.service.ask(ctx, method, errorsPath+path, body, nil)
		o.journal.command(method+" "+path+" "+body, err)
		return err == nil
	})
}
