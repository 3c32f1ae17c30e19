package app

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/errata-log/errata/engine"
)

const (
	// StopTimeout bounds the whole stop.
	StopTimeout = 10 * time.Second
	// finishTimeout is the part of StopTimeout for running requests. The engines
	// need the rest: ClickHouse takes up to 5 s when a query still runs.
	finishTimeout = 4 * time.Second
)

// life holds what Run and Stop share.
type life struct {
	stop sync.Once
	err  error // what Stop returned
}

// Addr is the address that the service listens on.
func (a *App) Addr() net.Addr { return a.servers[0].Addr() }

// Welcome is what to tell the operator.
func (a *App) Welcome() Welcome { return a.welcome }

// Run serves until ctx ends, serving fails or this node has left its cluster, and then stops the
// service. A clean end is nil.
func (a *App) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- a.servers.Serve() }() // ends with Stop
	a.logger.Info("serving", "url", a.welcome.URL, "version", a.options.Version)
	var err error
	select {
	case <-ctx.Done():
		a.logger.Info("stopping", "within", StopTimeout)
	case err = <-served:
	case <-a.cluster.Left():
		err = cmp.Or(a.engines.NoteMember(true), engine.ErrLeft)
	}
	began := time.Now()
	err = errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	a.logger.Info("stopped", "took", time.Since(began))
	return err
}

// Stop undoes the start in reverse order, within StopTimeout: the service takes no
// new requests, finishes those that run, writes what waits for the log, and ends
// projector and engines. Events that were answered with success are on disk already.
// Stop may be called at any time and more than once; later calls wait for the first
// and return the same error.
func (a *App) Stop(ctx context.Context) error {
	a.life.stop.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, StopTimeout)
		defer cancel()
		a.life.err = a.cleanups.Run(ctx)
	})
	return a.life.err
}
