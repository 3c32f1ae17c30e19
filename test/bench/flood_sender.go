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
	requests []request // one for each key
	problems int64     // to send
	begun    atomic.Int64
	took     time.Duration // until the last was taken

	taken                         atomic.Int64 // events
	answered, refused, overloaded atomic.Int64 // requests: all, with 429, with 503
}

// newFlood makes the keys of the flooding project. Each event is of a class of its
// own, so that the overflow records are many too.
func (b *bench) newFlood(ctx context.Context) (*flood, error) {
	event := strings.Replace(nativeEvent(7), `"exception_class":"Payment\\GatewayErrorAh"`,
		`"exception_class":"Flood`+placeholder+`","fingerprint":["`+placeholder+`"]`, 1)
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
		f.requests = append(f.requests, newRequest(http.MethodPost, "/api/v1/events", header, body, b.floodBatch))
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
func (f *flood) sendOver(ctx context.Context, req request) error {
	c, err := dial(ctx, f.addr, req)
	if err != nil {
		return err
	}
	defer func() { c.Close() }()
	for f.begun.Add(int64(req.events)) <= f.problems {
		c.fill()
		for taken := false; !taken; {
			if taken, err = f.offer(c); err != nil {
				return err
			}
			if !taken && len(c.out) > keptAlive {
				again, err := dial(ctx, f.addr, req)
				if err != nil {
					return err
				}
				copy(again.out, c.out)
				c.Close()
				c = again
			}
		}
		f.taken.Add(int64(req.events))
	}
	return nil
}

// offer sends the request once.
func (f *flood) offer(c *connection) (taken bool, err error) {
	status, length, err := c.send()
	if err != nil {
		return false, err
	}
	if _, err := c.in.Discard(length); err != nil {
		return false, fmt.Errorf("read the body: %w", err)
	}
	f.answered.Add(1)
	switch code, _, _ := strings.Cut(strings.TrimPrefix(status, "HTTP/1.1 "), " "); code {
	case "202":
		return true, nil
	case "429":
		f.refused.Add(1)
	case "503":
		f.overloaded.Add(1)
	default:
		return false, fmt.Errorf("the flood was answered %q", status)
	}
	return false, nil
}
