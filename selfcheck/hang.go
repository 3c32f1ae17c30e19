package selfcheck

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/errata-log/errata/internal/background"
)

// When the checksum of a compressed block is wrong, ClickHouse tries to flip each
// of its bits, to name the wrong one in its message. That takes a minute for a
// block of 256 KiB and an hour for one of 1 MiB. A cancelled query does not stop it.

// fileNamed finds the name of the damaged file in the message of CHECK TABLE.
var fileNamed = regexp.MustCompile(`\b[Ff]ile '?([^\s',]+)`)

// ofRows reports whether the message names a file of the rows themselves. Then
// the rows cannot be read, and reading them to find out would only take time.
func ofRows(message string) bool {
	named := fileNamed.FindStringSubmatch(message)
	return named != nil && !strings.Contains(named[1], "skp_idx_") && !strings.Contains(named[1], ".proj")
}

const (
	// A part may take hangPatience, and one second for each hangRate bytes: a
	// tenth of the speed of a slow disk.
	hangPatience = 20 * time.Second
	hangRate     = 5 << 20
	hangPause    = time.Second
)

var errHangs = errors.New("ClickHouse answers other queries, but does not finish reading this part")

// hangs reports whether [Checker.whileItAnswers] ended the context.
func hangs(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHangs) }

// whileItAnswers returns a context for reading so many bytes, which ends with
// errHangs when that takes too long. Only the time in which ClickHouse answers a
// ping counts, because it may be frozen or away. A deadline would not do: the
// driver makes it a time limit of the query.
func (c *Checker) whileItAnswers(ctx context.Context, bytes uint64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	left := c.cfg.Patience + time.Duration(bytes/hangRate)*time.Second
	go func() { // ends with ctx
		for left > 0 {
			if !background.Wait(ctx, hangPause) {
				return
			}
			if c.cfg.ClickHouse.Ping(ctx) == nil {
				left -= hangPause
			}
		}
		cancel(errHangs)
	}()
	return ctx, func() { cancel(nil) }
}
