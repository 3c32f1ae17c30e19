package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// counter asks how many events the server shows now.
type counter func(ctx context.Context) (int64, error)

// shownPoll is the pause between two questions.
const shownPoll = 500 * time.Millisecond

// shownCounter finds how the server is asked; nil when nobody has said it.
func shownCounter(cmd *cobra.Command, t *terminal, c *config, to *target, command string) (counter, error) {
	if command != "" {
		return commandCounter(command), nil
	}
	// The admin key must not be sent to a server that happens to be measured.
	if flagOrEnv(cmd, t, "url") == "" && !sameAddress(localURL(c), to) {
		return nil, nil //nolint:nilnil // the report says that it is not measured
	}
	service, err := keyClient(cmd, t, c)
	if err != nil {
		return nil, err
	}
	return service.shownCounter(to.project, time.Now()), nil
}

// sameAddress says whether the service is the one of the DSN.
func sameAddress(service string, to *target) bool {
	at, err := url.Parse(service)
	if err != nil {
		return false
	}
	host, port, err := net.SplitHostPort(to.addr)
	if err != nil || at.Port() != port {
		return false
	}
	return at.Hostname() == host || onThisMachine(at.Hostname()) && onThisMachine(host)
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// overviewPath is the route that counts events by hour.
const overviewPath = "/api/v1/admin/tools/logs/overview"

// shownCounter counts the events of a project that Errata shows, of the hours around
// the beginning. The count by hour is one question, however many problems there are.
func (c *client) shownCounter(project string, began time.Time) counter {
	first := began.Add(-2 * time.Hour) // what leaves the range meanwhile is not counted before either
	return func(ctx context.Context) (int64, error) {
		var o struct {
			From   time.Time `json:"from"`
			Series []struct {
				Counts []int64 `json:"counts"` // of hours
			} `json:"series"`
		}
		asked := url.Values{"range": {"24h"}, "project": {project}}
		if err := c.call(ctx, http.MethodGet, overviewPath+"?"+asked.Encode(), nil, &o); err != nil {
			return 0, err
		}
		var sum int64
		for _, series := range o.Series {
			for i, n := range series.Counts {
				if o.From.Add(time.Duration(i) * time.Hour).After(first) {
					sum += n
				}
			}
		}
		return sum, nil
	}
}

// commandCounter runs a command of the shell, whose last line is the number.
func commandCounter(command string) counter {
	return func(ctx context.Context) (int64, error) {
		out, err := exec.CommandContext(ctx, "sh", "-c", command).Output()
		if err != nil {
			if ended, ok := errors.AsType[*exec.ExitError](err); ok {
				err = fmt.Errorf("%w: %s", err, printed(strings.TrimSpace(string(ended.Stderr))))
			}
			return 0, fmt.Errorf("--shown: %w", err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		last := strings.TrimSpace(lines[len(lines)-1])
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("--shown: the last line is %q, which is not a number", printed(last))
		}
		return n, nil
	}
}

// shown is what the server shows after the load.
type shown struct {
	// More is how many events it shows more than before.
	More int64 `json:"more"`
	// Seconds is how long after the load it began to show so many.
	Seconds float64 `json:"seconds"`
}

// awaitShown asks until the server shows as many events as it accepted, or the number
// has stood still for the time settle.
func awaitShown(ctx context.Context, count counter, before, accepted int64, settle time.Duration) (*shown, error) {
	began := time.Now()
	changed, last := began, int64(-1)
	poll := time.NewTicker(shownPoll)
	defer poll.Stop()
	for {
		n, err := count(ctx)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		if n -= before; n != last {
			changed, last = now, n
		}
		if n == accepted || now.Sub(changed) >= settle {
			return &shown{More: n, Seconds: changed.Sub(began).Seconds()}, nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
