package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// prepareTimeout is how long one call of Prepare waits for a server that starts at
// the same time. It is a little longer than dialPatience, so that the embedded
// engine can say why it does not answer.
const prepareTimeout = dialPatience + 500*time.Millisecond

// childFirstPatience is how long a start waits for an embedded engine that does
// not answer yet. After that the engine goes on starting in the background.
const childFirstPatience = 20 * time.Second

// errAway marks errors of a ClickHouse that did not answer.
var errAway = errors.New("ClickHouse is away")

// passing are the error codes that come from the present state of ClickHouse, such
// as its load, and not from the query or the data. The same query may work later.
var passing = map[int32]string{
	75:  "CANNOT_WRITE_TO_FILE_DESCRIPTOR",
	159: "TIMEOUT_EXCEEDED",
	202: "TOO_MANY_SIMULTANEOUS_QUERIES",
	203: "NO_FREE_CONNECTION",
	204: "CANNOT_FSYNC",
	209: "SOCKET_TIMEOUT",
	210: "NETWORK_ERROR",
	236: "ABORTED",
	241: "MEMORY_LIMIT_EXCEEDED",
	242: "TABLE_IS_READ_ONLY",
	243: "NOT_ENOUGH_SPACE",
	252: "TOO_MANY_PARTS",
	279: "ALL_CONNECTION_TRIES_FAILED",
	319: "UNKNOWN_STATUS_OF_INSERT",
	394: "QUERY_WAS_CANCELLED",
	745: "SERVER_OVERLOADED",
	999: "KEEPER_EXCEPTION",
}

// Away says whether the error means that ClickHouse does not answer or cannot work
// at the moment, so that a retry may work. A wrong password is no such error.
func Away(err error) bool {
	if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) {
		return passing[answer.Code] != ""
	}
	if network := net.Error(nil); errors.As(err, &network) {
		return true
	}
	for _, gone := range []error{
		errAway, errChildAway, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn,
		context.DeadlineExceeded, clickhouse.ErrAcquireConnTimeout,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// Prepare waits a moment for ClickHouse and makes the database if there is none.
// After a start with ClickHouseConfig.Later it must have succeeded once before the
// database is used. It may be called again after an error that is [Away].
func (ch *ClickHouse) Prepare(ctx context.Context) error {
	if err := ensureDatabase(ctx, ch.options, prepareTimeout, ch.child != nil); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// PrepareClickHouse is [ClickHouse.Prepare] of these engines.
func (e *Engines) PrepareClickHouse(ctx context.Context) error { return e.clickhouse.Prepare(ctx) }

// begin starts the child and watches it. With cfg.Later, a first start that fails or
// takes long is no error, unless no later start can work either.
func (c *child) begin(ctx context.Context) error {
	first := make(chan error, 1)
	c.work.Start(func(watching context.Context) {
		starting := ctx // of the first launch
		if c.cfg.Later {
			starting = watching
		}
		p, addr, err := c.launch(starting)
		if err != nil && (!c.cfg.Later || hopeless(err)) {
			c.end()
			first <- err
			return
		}
		defer c.end()
		if err == nil {
			c.setUp(p, addr)
		}
		first <- nil
		if err != nil {
			c.setFailed(err)
			c.log.Error("the embedded ClickHouse did not start and is tried again", "error", err)
			p = c.revive(watching, childFreeTries)
		}
		if p != nil {
			c.watch(watching, p)
		}
	})
	patience := time.NewTimer(childFirstPatience)
	defer patience.Stop()
	for {
		select {
		case err := <-first:
			return err
		case <-patience.C:
			if c.cfg.Later {
				return nil
			}
		case <-ctx.Done():
			if c.cfg.Later {
				return errors.Join(ctx.Err(), c.stop(context.WithoutCancel(ctx)))
			}
			return <-first // it ends with ctx
		}
	}
}

// end removes the files, and says that no child is started any more.
func (c *child) end() {
	c.files.remove()
	close(c.done)
}

// Exit codes of errata-engine for what it was given and cannot use.
const exitUsage, exitUnavailable = 64, 69

// hopeless says whether the program or the library cannot be run at all.
func hopeless(err error) bool {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return ended.ExitCode() == exitUsage || ended.ExitCode() == exitUnavailable
	}
	return errors.Is(err, errNoProcess)
}
