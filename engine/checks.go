package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
)

const (
	// minNATSVersion is the first version that does one fsync for a group of
	// messages, and whose compaction syncs as well.
	minNATSVersion = "2.15.2"
	// minClickHouseVersion is the first version that reads a ClickHouse projection in
	// its order.
	minClickHouseVersion = "26.5"
	// restartMemory is how long the checks mention a restart of the embedded
	// ClickHouse.
	restartMemory = 10 * time.Minute
)

// Checks looks at both engines. The context bounds all of it. An engine that does not
// answer gives a check that is not OK.
func (e *Engines) Checks(ctx context.Context) []errata.Check {
	checks := []errata.Check{e.checkNATS(), e.checkLogStorage(ctx), e.checkLogSync()}
	if e.certs != nil {
		checks = append(checks, e.certs.Check(ctx))
	}
	if e.clickhouse == nil { // an ingest node
		return checks
	}
	checks = append(checks, e.checkClickHouse(ctx))
	if e.clickhouse.child != nil {
		checks = append(checks, e.checkRestarts(time.Now()), checkLimits(e.clickhouse.child.shortfalls()))
	}
	if e.analysts != nil {
		checks = append(checks, e.analysts.check(ctx))
		if e.analysts.certs != nil {
			checks = append(checks, e.analysts.certs.Check(ctx))
		}
	}
	return checks
}

func (e *Engines) checkNATS() errata.Check {
	c := errata.Check{Name: "nats"}
	conn := e.NATS.Conn()
	rtt, err := conn.RTT()
	if err != nil {
		c.Detail, c.Hint = fmt.Sprintf("does not answer: %v", err), "is NATS running, and is ERRATA_NATS_URL right?"
		return c
	}
	version := conn.ConnectedServerVersion()
	c.Detail = fmt.Sprintf("%s, version %s, answers in %s", whereIs(e.cfg.NATSURL != ""), version, rtt.Round(time.Microsecond))
	if c.OK = !older(version, minNATSVersion); !c.OK {
		c.Hint = "use NATS " + minNATSVersion + " or later"
	}
	return c
}

// checkLogStorage says how full the log's store is, and whether the disk has room for
// the rest of the limit.
func (e *Engines) checkLogStorage(ctx context.Context) errata.Check {
	c := errata.Check{Name: "log storage"}
	info, err := e.NATS.JetStream().AccountInfo(ctx)
	if err != nil {
		c.Detail, c.Hint = fmt.Sprintf("JetStream does not answer: %v", err), "is NATS started with JetStream on?"
		return c
	}
	limit := e.cfg.LogMaxBytes
	c.Detail = fmt.Sprintf("%s of %s used", mib(info.Store), mib(uint64(limit)))
	c.OK = true
	if e.cfg.NATSURL != "" {
		return c
	}
	free, _, err := e.DiskRoom()
	if err != nil {
		return c
	}
	c.Detail += fmt.Sprintf(", %s free on the disk", mib(uint64(free)))
	if missing := limit - int64(info.Store); free < missing {
		c.OK = false
		c.Hint = "the disk is full before the log is, and JetStream stops on a full disk: free some space or lower the log's limit"
	}
	return c
}

func (e *Engines) checkLogSync() errata.Check {
	switch {
	case e.cfg.NATSURL != "":
		return errata.Check{Name: "log sync", OK: true,
			Detail: "cannot be seen from outside; a NATS server must run with sync_interval: always, or a power cut loses acknowledged events"}
	case e.cfg.LazySync:
		return errata.Check{Name: "log sync", OK: false,
			Detail: "lazy, as configured: events are acknowledged before they are on disk",
			Hint:   "a power cut loses what was acknowledged in the last two minutes, and can lose the log; switch lazy sync off"}
	default:
		return errata.Check{Name: "log sync", OK: true, Detail: "always: acknowledged events are on disk"}
	}
}

func (e *Engines) checkClickHouse(ctx context.Context) errata.Check {
	c := errata.Check{Name: "clickhouse"}
	version, err := e.clickHouseVersion(ctx)
	if err != nil {
		c.Detail, c.Hint = fmt.Sprintf("does not answer: %v", err), "is ClickHouse running, and is ERRATA_CLICKHOUSE_DSN right?"
		return c
	}
	c.Detail = fmt.Sprintf("%s, version %s, database %s", whereIs(e.clickhouse.child == nil), version, e.Database())
	if c.OK = !older(version, minClickHouseVersion); !c.OK {
		c.Hint = "use ClickHouse " + minClickHouseVersion + " or later"
	}
	return c
}

// clickHouseVersion asks the server for its version.
func (e *Engines) clickHouseVersion(ctx context.Context) (string, error) {
	return inTime(ctx, func(ctx context.Context) (version string, err error) {
		err = e.ClickHouse().QueryRow(ctx, "SELECT version()").Scan(&version)
		return version, err
	})
}

func (e *Engines) checkRestarts(now time.Time) errata.Check {
	times, last := e.clickhouse.child.restarted()
	c := errata.Check{Name: "clickhouse restarts", OK: true, Detail: "none"}
	if times > 0 {
		ago := now.Sub(last).Round(time.Second)
		c.Detail = fmt.Sprintf("%d, the last one %s ago", times, ago)
		if ago < restartMemory {
			c.OK, c.Hint = false, "look for 'engine=clickhouse' in the log of this service, and at the kernel's log for the out-of-memory killer"
		}
	}
	return c
}

// checkLimits says whether the engine has taken all its safety measures. It works
// without them too, and the operator should know.
func checkLimits(shortfalls []string) errata.Check {
	c := errata.Check{Name: "clickhouse limits", OK: true, Detail: "the embedded engine reads its own files only, and no client can end it"}
	if len(shortfalls) > 0 {
		c.Detail = "the embedded engine works without " + strings.Join(shortfalls, "; without ")
		c.Hint = "give nobody but people you trust a shell on this machine, or use a kernel with Landlock (5.19 or later)"
	}
	return c
}

func whereIs(external bool) string {
	if external {
		return "external"
	}
	return "embedded"
}

func mib(bytes uint64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// older compares dotted versions number by number. It ignores what is no number, such
// as a pre-release or a build.
func older(version, than string) bool {
	have, want := numbers(version), numbers(than)
	for i, w := range want {
		h := 0
		if i < len(have) {
			h = have[i]
		}
		if h != w {
			return h < w
		}
	}
	return false
}

func numbers(version string) (parts []int) {
	for part := range strings.SplitSeq(version, ".") {
		digits := part
		if end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = part[:end]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			return parts
		}
		parts = append(parts, n)
	}
	return parts
}
