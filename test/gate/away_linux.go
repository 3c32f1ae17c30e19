package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/gate/referee"
)

const (
	// doorsLimit is the promise for a start without ClickHouse: events are taken
	// within this time. It is longer than the service waits for ClickHouse.
	doorsLimit = 30 * time.Second
	// awayFor is how long ClickHouse stays away after events are taken.
	awayFor = 5 * time.Second
)

// absence makes ClickHouse unreachable and reachable again.
type absence struct {
	args        []string // settings of the service
	leave, back func() error
	close       func() error
}

// runAway starts services while their ClickHouse is away: the embedded one, and
// an external server.
func runAway(ctx context.Context, g *gate, seed uint64) error {
	for i, a := range []struct {
		name string
		make func(g *gate) (*absence, error)
	}{
		{"clickhouse away, embedded", embeddedAway},
		{"clickhouse away, external", externalAway},
	} {
		r := g.begin(a.name, seed+uint64(i))
		if err := g.away(ctx, r, fmt.Sprintf("away-%d", i), a.make); err != nil {
			r.violate("%v", err)
		}
		g.report(r)
	}
	return nil
}

func (g *gate) away(ctx context.Context, r *Result, name string, prepare func(*gate) (*absence, error)) (err error) {
	a, err := prepare(g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	x, end, err := g.serve(ctx, r.Seed, name, filepath.Join(g.dir, name), a.args...)
	if err != nil {
		return err
	}
	defer end()
	s := x.service
	x.load(ctx)
	x.loadUntil(ctx, 200, loadTime)
	x.stop()
	if err := errors.Join(x.settle(ctx), s.stop(), a.leave(), s.start()); err != nil {
		return err
	}
	err = s.poll(ctx, g.limit(doorsLimit), func(ctx context.Context) bool {
		e := x.ledger.World.Event(x.senders[0].number, x.senders[0].next)
		if x.senders[0].native(ctx, []referee.Event{e}) != accepted {
			return false
		}
		x.senders[0].next++
		x.ledger.Accept([]referee.Event{e})
		return true
	})
	if err != nil {
		r.violate("no events are taken without ClickHouse: %v", err)
		return nil
	}
	r.Detail = fmt.Sprintf("events are taken %v after the start", time.Since(s.started).Round(time.Millisecond))
	var refused *status
	if err := s.ask(ctx, http.MethodGet, errorsPath, "", nil); !errors.As(err, &refused) || refused.code != http.StatusServiceUnavailable {
		r.violate("a list without ClickHouse: %v, want 503", err)
	}
	x.load(ctx)
	pause(ctx, awayFor)
	if err := a.back(); err != nil {
		return err
	}
	x.recovered(ctx, r, time.Now(), killRecovery, killRecovery)
	x.verify(ctx, r)
	return nil
}

// embeddedAway uses an engine that ends at once while a file exists.
func embeddedAway(g *gate) (*absence, error) {
	flag, script := filepath.Join(g.dir, "engine-away"), filepath.Join(g.dir, "engine.sh")
	text := fmt.Sprintf("#!/bin/sh\nif [ -e '%s' ]; then echo 'away' >&2; exit 1; fi\nexec '%s' \"$@\"\n", flag, g.engineBinary())
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		return nil, fmt.Errorf("write an engine that fails: %w", err)
	}
	return &absence{
		args:  []string{"--engine-binary", script},
		leave: func() error { return os.WriteFile(flag, nil, 0o600) },
		back:  func() error { return os.Remove(flag) },
		close: func() error { return nil },
	}, nil
}

func (g *gate) engineBinary() string { return filepath.Join(filepath.Dir(g.binary), "errata-engine") }

// externalAway uses a ClickHouse of the gate, behind a port that can be closed.
func externalAway(g *gate) (*absence, error) {
	dir := filepath.Join(g.dir, "external")
	ch, err := engine.StartClickHouse(context.Background(), engine.ClickHouseConfig{
		DataDir: filepath.Join(dir, "clickhouse"), RunDir: filepath.Join(dir, "run"),
		EngineBinary: g.engineBinary(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("start an external ClickHouse: %w", err)
	}
	options := ch.Options()
	door, err := newDoor(func(ctx context.Context) (net.Conn, error) { return options.DialContext(ctx, options.Addr[0]) })
	if err != nil {
		return nil, errors.Join(err, ch.Stop(context.Background()))
	}
	dsn := url.URL{Scheme: "clickhouse", Host: door.listener.Addr().String(), Path: "/" + options.Auth.Database,
		User: url.UserPassword(options.Auth.Username, options.Auth.Password)}
	// The service refuses a password on the command line.
	config := filepath.Join(dir, "errata.yaml")
	if err := os.WriteFile(config, []byte("clickhouse-dsn: "+dsn.String()+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write the settings: %w", err), door.close(), ch.Stop(context.Background()))
	}
	return &absence{
		args:  []string{"--config", config},
		leave: func() error { door.shut(true); return nil },
		back:  func() error { door.shut(false); return nil },
		close: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
			defer cancel()
			return errors.Join(door.close(), ch.Stop(ctx))
		},
	}, nil
}

// door is a port that forwards connections while it is open and closes them at
// once while it is shut.
type door struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	closed   atomic.Bool

	mu    sync.Mutex
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

func newDoor(dial func(context.Context) (net.Conn, error)) (*door, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port: %w", err)
	}
	d := &door{listener: l, dial: dial, conns: map[net.Conn]bool{}}
	d.done.Go(d.serve)
	return d, nil
}

func (d *door) serve() {
	for {
		client, err := d.listener.Accept()
		if err != nil {
			return // it was closed
		}
		if d.closed.Load() {
			client.Close()
			continue
		}
		d.done.Go(func() { d.pass(client) })
	}
}

// pass forwards between a client and the server until one of them ends.
func (d *door) pass(client net.Conn) {
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	server, err := d.dial(ctx)
	if err != nil {
		return
	}
	defer server.Close()
	d.keep(client, true)
	defer d.keep(client, false)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // ends with either of them
			way[0].Close()
			way[1].Close()
		})
	}
	both.Wait()
}

func (d *door) keep(conn net.Conn, there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if there {
		d.conns[conn] = true
	} else {
		delete(d.conns, conn)
	}
}

// shut opens or shuts the door; shutting closes its connections.
func (d *door) shut(shut bool) {
	d.closed.Store(shut)
	if !shut {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for conn := range d.conns {
		conn.Close()
	}
}

func (d *door) close() error {
	d.shut(true)
	err := d.listener.Close()
	d.done.Wait()
	return err
}
