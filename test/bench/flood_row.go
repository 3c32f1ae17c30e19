package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/app"
)

const (
	// floodConns is how many connections the flooding key has.
	floodConns = 64
	// The other key sends at a low rate, and one reader asks for the list.
	modestInterval = 20 * time.Millisecond
	listInterval   = 100 * time.Millisecond
)

// flood measures how one key that sends as fast as it can, each event a new
// problem, slows down another key and lists, at the default limits.
func (b *bench) flood() error {
	return b.withService("flood", app.DefaultOptions(), func() error {
		ctx := context.Background()
		modest, err := b.anotherKey(ctx)
		if err != nil {
			return err
		}
		if _, _, err := b.neighbours(ctx, modest, b.floodFor/4); err != nil { // warm
			return err
		}
		ingest, lists, err := b.neighbours(ctx, modest, b.floodFor)
		if err != nil {
			return err
		}
		flood := b.startFlood(ctx)
		floodedIngest, floodedLists, err := b.neighbours(ctx, modest, b.floodFor)
		if err = errors.Join(err, flood.stop()); err != nil {
			return err
		}
		records, err := b.count(ctx, "")
		if err != nil {
			return err
		}
		said := fmt.Sprintf("%d taken, %d refused, %d records", flood.taken.Load(), flood.refused.Load(), records)
		floodRow("ingestion beside a flood", ingest, floodedIngest, said).write(b.out)
		floodRow("lists beside a flood", lists, floodedLists, said).write(b.out)
		return nil
	})
}

func floodRow(name string, before, during *hdrhistogram.Histogram, note string) row {
	return row{
		name: name, ours: millis(during, 99), unit: "ms p99", limit: 2 * millis(before, 99),
		note: fmt.Sprintf("%s ms before, p50 %s then %s; %s", figure(millis(before, 99)), figure(millis(before, 50)), figure(millis(during, 50)), note),
	}
}

// anotherKey makes a key of a project of its own.
func (b *bench) anotherKey(ctx context.Context) (string, error) {
	var answer struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	err := b.admin(ctx, http.MethodPost, "/api/v1/admin/keys", map[string]any{"name": "modest", "kind": "ing"}, &answer)
	return answer.Data.Key, err
}

// neighbours sends events with the key at a low rate, and lists, and returns the
// times of both.
func (b *bench) neighbours(ctx context.Context, key string, span time.Duration) (ingest, lists *hdrhistogram.Histogram, err error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	ingest, lists = newHistogram(), newHistogram()
	header := [][2]string{{"Authorization", "Bearer " + key}, {"Content-Type", "application/json"}}
	req := newRequest(http.MethodPost, "/api/v1/events", header, nativeEvent(7), 1)
	ended := make(chan error, 1)
	go func() { // ends with ctx
		ended <- paced(ctx, b.addr, req, time.Now(), modestInterval, func(due time.Time) {
			_ = ingest.RecordValue(time.Since(due).Microseconds()) // at most a minute, the histogram's maximum
		})
	}()
	tick := time.NewTicker(listInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			continue
		}
		sent := time.Now()
		var page struct{}
		if err := b.admin(ctx, http.MethodGet, errorsPath, nil, &page); err != nil && ctx.Err() == nil {
			cancel()
			return nil, nil, errors.Join(err, <-ended)
		} else if err == nil {
			_ = lists.RecordValue(time.Since(sent).Microseconds())
		}
	}
	return ingest, lists, <-ended
}

// flood is one key that sends as fast as it can.
type flood struct {
	end            atomic.Bool
	ended          chan error
	taken, refused atomic.Int64
}

func (f *flood) stop() error {
	f.end.Store(true)
	var all error
	for range floodConns {
		all = errors.Join(all, <-f.ended)
	}
	return all
}

// startFlood begins to send new problems with the service's first key, and
// ignores refusals.
func (b *bench) startFlood(ctx context.Context) *flood {
	body := strings.Replace(nativeEvent(7), `"level"`, `"fingerprint":["`+placeholder+`"],"level"`, 1)
	req := newRequest(http.MethodPost, "/api/v1/events", b.nativeHeader(), body, 1)
	f := &flood{ended: make(chan error, floodConns)}
	for range floodConns {
		go func() { f.ended <- f.send(ctx, b.addr, req) }() // ends with stop
	}
	return f
}

func (f *flood) send(ctx context.Context, addr string, req request) error {
	c, err := dial(ctx, addr, req)
	if err != nil {
		return err
	}
	defer c.Close()
	for !f.end.Load() {
		c.fill()
		status, length, err := c.send()
		if err != nil {
			return err
		}
		if _, err := c.in.Discard(length); err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		switch {
		case strings.HasPrefix(status, "HTTP/1.1 2"):
			f.taken.Add(1)
		case strings.HasPrefix(status, "HTTP/1.1 429"):
			f.refused.Add(1)
		default:
			return fmt.Errorf("the flood was answered %q", status)
		}
	}
	return nil
}
