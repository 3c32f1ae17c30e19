package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/otlp"
)

func (o Options) validateOTLP() error {
	if _, err := otlp.ParseSpanExceptions(o.OTLPSpanExceptions); err != nil {
		return fmt.Errorf("otlp-span-exceptions: %w", err)
	}
	if o.OTLPListen == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(o.OTLPListen)
	if err != nil || port == "" {
		return fmt.Errorf("otlp-listen: %q is not host:port, such as 127.0.0.1:4318 or :4318", o.OTLPListen)
	}
	if o.OTLPListen == o.Listen && port != "0" {
		return fmt.Errorf("otlp-listen: %q is what listen is already, which serves OTLP too; leave it empty, or choose another port", o.OTLPListen)
	}
	return nil
}

// openTelemetry makes the door for OTLP.
func (a *App) openTelemetry(cfg door.Config) (*otlp.Handler, error) {
	telemetry, err := otlp.New(otlp.Config{Config: cfg, SpanExceptions: otlp.SpanExceptions(a.options.OTLPSpanExceptions)})
	if err != nil {
		return nil, err
	}
	a.telemetry = telemetry.Only()
	return telemetry, nil
}

// listenOTLP binds the second address, if there is one.
func (a *App) listenOTLP(context.Context) error {
	addr := a.options.OTLPListen
	if addr == "" {
		return nil
	}
	server, err := api.NewServer(api.ServerConfig{Addr: addr, Handler: a.telemetry, Logger: a.logger})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("otlp-listen: something else has the port of %s, perhaps a collector; choose another one, or leave the setting empty, since %s serves OTLP too: %w",
			addr, a.options.Listen, err)
	case err != nil:
		return fmt.Errorf("otlp-listen: %w", err)
	}
	a.otlpServer = server // ends together with the first, whose step of the stop knows it
	return nil
}

// OTLPAddr is the second address, nil when there is none.
func (a *App) OTLPAddr() net.Addr {
	if a.otlpServer == nil {
		return nil
	}
	return a.otlpServer.Addr()
}

// shutDown shuts down all servers at once: they share the time that there is.
func (a *App) shutDown(ctx context.Context) error {
	if a.otlpServer == nil {
		return a.server.Shutdown(ctx)
	}
	done := make(chan error, 1)
	go func() { done <- a.otlpServer.Shutdown(ctx) }() // ends with ctx
	return errors.Join(a.server.Shutdown(ctx), <-done)
}

// serve serves on all addresses. It returns when one of them fails, or all have
// been shut down.
func (a *App) serve() error {
	if a.otlpServer == nil {
		return a.server.Serve()
	}
	served := make(chan error, 2)
	go func() { served <- a.otlpServer.Serve() }() // ends with Stop
	go func() { served <- a.server.Serve() }()     // ends with Stop
	if err := <-served; err != nil {
		return err
	}
	return <-served
}
