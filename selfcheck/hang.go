package selfcheck

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/errata-log/errata/internal/background"
)

// At a flipped bit of a compressed block ClickHouse tries every bit of it, to say
// in its message which one it was: for a minute in a block of 256 KiB, and for an
// hour in one of 1 MiB. It does not stop when it is told to.

// fileNamed is how a check names the file that is not as it was written.
var fileNamed = regexp.MustCompile(`\b[Ff]ile '?([^\s',]+)`)

// ofRows says that the check names a file without which rows cannot be read, so
// that nobody need try to.
func ofRows(message string) bool {
	named := fileNamed.FindStringSubmatch(message)
	return named != nil && !strings.Contains(named[1], "skp_idx_") && !strings.Contains(named[1], ".proj")
}

const (
	// hangPatience and hangRate, in bytes a second, bound how long a part may
	// take to be read: a tenth of what a slow disk gives.
	hangPatience = 20 * time.Second
	hangRate     = 5 << 20
	hangPause    = time.Second
)

var errHangs = errors.New("ClickHouse answers, and does not come to an end with this part")

// hangs says that the context ended because ClickHouse did not get through.
func hangs(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHangs) }

// whileItAnswers bounds the reading of so many bytes. Only the time counts in
// which ClickHouse answers others: it may be frozen, or away. It is no deadline,
// for the driver would make one into a time limit of the query.
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
