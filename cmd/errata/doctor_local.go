package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
)

// checkData checks the data folder, or the folder in which it would be made.
func checkData(c *config) finding {
	f := finding{Check: "data folder"}
	path, err := filepath.Abs(c.service.Data)
	if err != nil {
		return f.failed(err.Error(), "choose another folder with --data")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent := existingParent(path)
		if unix.Access(parent, unix.W_OK|unix.X_OK) != nil {
			return f.failed(fmt.Sprintf("%s does not exist and %s cannot be written", path, parent),
				"make the folder, or choose another one with --data")
		}
		return f.ok(path + " does not exist; \"errata serve\" will make it")
	case err != nil:
		return f.failed(err.Error(), "choose another folder with --data")
	case !info.IsDir():
		return f.failed(path+" is not a folder", "choose another folder with --data")
	case unix.Access(path, unix.R_OK|unix.W_OK|unix.X_OK) != nil:
		return f.failed(fmt.Sprintf("%s cannot be written by user %d", path, os.Getuid()),
			fmt.Sprintf("run as the user who owns it, or: chown -R %d %s", os.Getuid(), shellQuote(path)))
	case info.Mode().Perm()&0o077 != 0:
		return f.warning(fmt.Sprintf("%s can be entered by other users (%v)", path, info.Mode().Perm()),
			"chmod 700 "+shellQuote(path))
	}
	return f.ok(path)
}

// existingParent is the nearest folder above path that exists.
func existingParent(path string) string {
	for {
		path = filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
	}
}

// checkConfigFile checks that other users cannot read a password in the file.
func checkConfigFile(c *config) finding {
	f := finding{Check: "configuration"}
	if c.openSecret != "" {
		return f.failed(c.openSecret+" holds a password and can be read by other users", "chmod 600 "+shellQuote(c.openSecret))
	}
	return f.ok("valid")
}

// checkKeyFiles checks that other users cannot read the keys of the first start.
func checkKeyFiles(c *config) finding {
	f := finding{Check: "key files"}
	found := 0
	for _, name := range []string{datadir.AdminKeyFile, datadir.IngestKeyFile} {
		path := filepath.Join(c.service.Data, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not made yet, or moved to a safer place
		}
		if err != nil {
			return f.failed(err.Error(), "run as the user of the service")
		}
		if info.Mode().Perm()&0o077 != 0 {
			return f.failed(fmt.Sprintf("%s can be read by other users (%v)", path, info.Mode().Perm()), "chmod 600 "+shellQuote(path))
		}
		found++
	}
	if found == 0 {
		return f.skipped("no key files in " + filepath.Join(c.service.Data, filepath.Dir(datadir.AdminKeyFile)))
	}
	return f.ok(fmt.Sprintf("%d files, readable by their owner only", found))
}

// leastFree is the room in bytes for a first day: log, records, and their merges.
const leastFree = 1 << 30

// checkDisk compares the free bytes of the disk with what the log may still take. A
// disk that is full before the log reaches its limit stops the log until there is
// room again.
func checkDisk(c *config) finding {
	f := finding{Check: "disk"}
	if c.service.NATSURL != "" {
		return f.skipped("the log is on the servers of nats-url")
	}
	limit := c.service.LogMaxBytes
	used, free, err := c.service.LogRoom()
	if err != nil {
		return f.failed(err.Error(), "see that the data folder can be read")
	}
	if limit == 0 { // the service takes what fits
		detail := fmt.Sprintf("%s free; the log has %s", roundSize(free), roundSize(used))
		if free < leastFree {
			return f.failed(detail, "free at least "+roundSize(leastFree))
		}
		return f.ok(detail)
	}
	detail := fmt.Sprintf("%s free; the log has %s and may grow to %s", roundSize(free), roundSize(used), roundSize(limit))
	if limit-used > free {
		return f.failed(detail, "free some space, or set --log-max-bytes below "+roundSize(used+free/2))
	}
	return f.ok(detail)
}

// roundSize is a size for people, with three digits.
func roundSize(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	value := float64(n) / (1 << 10)
	i := 0
	for ; value >= 1000 && i < len(units)-1; i++ {
		value /= 1 << 10
	}
	return fmt.Sprintf("%.*f %s", max(0, 2-int(math.Log10(max(1, value)))), value, units[i])
}

const (
	// clockWatch is how long the wall clock is compared with the monotonic one,
	// clockDrift how far they may differ then. A clock that is being slewed differs
	// by at most 0.05 %.
	clockWatch = 100 * time.Millisecond
	clockDrift = 20 * time.Millisecond
	// clockSkew is how far the clocks of this machine and of the service may differ,
	// with the time of the request.
	clockSkew = 5 * time.Second
)

// checkClock checks that the clock is not earlier than the commit of this binary, and
// that it runs at the right speed.
func checkClock(ctx context.Context, b build) finding {
	f := finding{Check: "clock"}
	const fix = "set the clock and let a time service keep it (timedatectl set-ntp true)"
	began := time.Now()
	if committed, ok := b.committed(); ok && began.Before(committed) {
		return f.failed(fmt.Sprintf("it is %s here, before this program was made (%s)",
			began.UTC().Format(time.RFC3339), committed.UTC().Format(time.RFC3339)), fix)
	}
	select {
	case <-ctx.Done():
		return f.skipped("stopped")
	case <-time.After(clockWatch):
	}
	now := time.Now()
	// Round(0) drops the monotonic clock, which Sub uses otherwise.
	wall, passed := now.Round(0).Sub(began.Round(0)), now.Sub(began)
	if drift := (wall - passed).Abs(); drift > clockDrift {
		return f.failed(fmt.Sprintf("the clock moved by %v while %v passed", wall, passed), fix)
	}
	return f.ok(began.UTC().Format(time.RFC3339))
}

// checkEngine looks for the program and the library of the embedded ClickHouse.
func checkEngine(c *config) finding {
	f := finding{Check: "engine"}
	if c.service.NATSLeaf != "" {
		return f.skipped("an ingest node needs none")
	}
	if c.service.ClickHouseDSN != "" {
		return f.skipped("ClickHouse is at clickhouse-dsn")
	}
	found, err := c.service.FindEngine()
	if err != nil {
		return f.failed(err.Error(), "do what it says, or set ERRATA_CLICKHOUSE_DSN")
	}
	return f.ok(found)
}

// checkCertificate reads the certificates that the service would show.
func checkCertificate(c *config, now time.Time) finding {
	f := finding{Check: "tls-cert"}
	o := c.service.TLS
	check, named := certs.Files{Prefix: "tls", Cert: o.CertFile, Key: o.KeyFile}.Local(now)
	switch {
	case len(o.Domains) > 0:
		return f.skipped("the ACME server issues it; the check of the service shows it")
	case !named:
		return f.skipped("no tls-cert is set; the service speaks HTTP without TLS")
	}
	return f.as(check)
}

// checkFiles reads the certificates that a setting names, of a part of the service.
func checkFiles(setting string, files certs.Files, part string, now time.Time) finding {
	f := finding{Check: setting}
	check, named := files.Local(now)
	if !named {
		return f.skipped("none is set; " + part + " speaks no TLS")
	}
	return f.as(check)
}

// as is the result of a check of the service.
func (f finding) as(check errata.Check) finding {
	switch {
	case !check.OK:
		return f.failed(check.Detail, check.Hint)
	case check.Hint != "":
		return f.warning(check.Detail, check.Hint)
	}
	return f.ok(check.Detail)
}

func (f finding) ok(detail string) finding {
	f.State, f.Detail = stateOK, detail
	return f
}

func (f finding) skipped(detail string) finding {
	f.State, f.Detail = stateSkipped, detail
	return f
}

func (f finding) warning(detail, fix string) finding {
	f.State, f.Detail, f.Fix = stateWarning, detail, fix
	return f
}

func (f finding) failed(detail, fix string) finding {
	f.State, f.Detail, f.Fix = stateFailed, detail, fix
	return f
}
