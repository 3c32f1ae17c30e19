package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/internal/load"
)

const (
	// floodConns is how many connections the flooding project has, and floodKeys
	// with how many keys they send. Two keys at their limit reach that of their
	// project; four have more turns on the way to the log.
	floodConns = 64
	floodKeys  = 4
	// keptAlive is the size of requests from which on a server may close the
	// connection of one that it refuses without reading it.
	keptAlive = 100 << 10
)

// flood is a project that sends new problems as fast as it can. What is refused is
// sent again, until all are taken.
type flood struct {
	addr     string
	requests []load.Request // one for each key
	problems int64          // to send
	begun    atomic.Int64
	took     time.Duration // until the last was taken

	taken                         atomic.Int64 // events
	answered, refused, overloaded atomic.Int64 // requests: all, with 429, with 503
}

// newFlood makes the keys of the flooding project. Each event is of a class of its
// own, so that the overflow records are many too.
func (b *bench) newFlood(ctx context.Context) (*flood, error) {
	event := strings.Replace(nativeEvent(7), `"exception_class":"Payment\\GatewayErrorAh"`,
		`"exception_class":"Flood`+load.Number+`","fingerprint":["`+load.Number+`"]`, 1)
	body := strings.Repeat(event+"\n", b.floodBatch)
	f := &flood{addr: b.addr, problems: int64(b.floodOf)}
	for i := range floodKeys {
		key := b.ingestKey
		if i > 0 {
			var err error
			if key, err = b.newKey(ctx, map[string]any{"name": fmt.Sprint("flood ", i), "kind": "ing", "project": floodingProject}); err != nil {
				return nil, err
			}
		}
		header := [][2]string{{"Authorization", "Bearer " + key}, {"Content-Type", "application/json"}}
		f.requests = append(f.requests, load.NewRequest(http.MethodPost, "/api/v1/events", header, body, b.floodBatch))
	}
	return f, nil
}

// newKey makes a key and returns its text.
func (b *bench) newKey(ctx context.Context, of map[string]any) (string, error) {
	var made struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	err := b.admin(ctx, http.MethodPost, "/api/v1/admin/keys", of, &made)
	return made.Data.Key, err
}

// perSecond is how many requests a second were answered.
func (f *flood) perSecond() float64 { return float64(f.answered.Load()) / f.took.Seconds() }

// send returns when all problems were taken.
func (f *flood) send(ctx context.Context) error {
	var (
		done sync.WaitGroup
		mu   sync.Mutex
		all  error
	)
	for i := range floodConns {
		done.Go(func() {
			err := f.sendOver(ctx, f.requests[i%len(f.requests)])
			mu.Lock()
			defer mu.Unlock()
			all = errors.Join(all, err)
		})
	}
	done.Wait()
	return all
}

// sendOver sends over one connection at a time until all problems were begun and its
// own are taken.
func (f *flood) sendOver(ctx context.Context, req load.Request) error {
	c, err := load.Dial(ctx, f.addr, req)
	if err != nil {
		return err
	}
	defer func() { c.Close() }()
	for f.begun.Add(int64(req.Events)) <= f.problems {
		c.Fill()
		for taken := false; !taken; {
			if taken, err = f.offer(c); err != nil {
				return err
			}
			if !taken && c.Size() > keptAlive {
				again, err := load.Dial(ctx, f.addr, req)
				if err != nil {
					return err
				}
				again.Again(c)
				c.Close()
				c = again
			}
		}
		f.taken.Add(int64(req.Events))
	}
	return nil
}

// offer sends the request once.
func (f *flood) offer(c *load.Connection) (taken bool, err error) {
	answer, err := c.Send()
	if err != nil {
		return false, err
	}
	f.answered.Add(1)
	switch answer.Code {
	case http.StatusAccepted:
		return true, nil
	case http.StatusTooManyRequests:
		f.refused.Add(1)
	case http.StatusServiceUnavailable:
		f.overloaded.Add(1)
	default:
		return false, fmt.Errorf("the flood was %w", answer.Err())
	}
	return false, nil
}
