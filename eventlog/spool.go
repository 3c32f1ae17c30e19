package eventlog

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	errata "github.com/errata-log/errata"
)

const (
	// spoolAfter is how long the log may take for a block before it goes into the spool.
	// Senders wait for that long once, when the log goes away. One that has waited in vain for a
	// frozen node for a second, and turns to another one, has its answer within 2 s. On busy
	// disks three replicas take a block in 28 ms, the slowest in a hundred.
	spoolAfter = 500 * time.Millisecond
	// spoolAgain is how long the log is then left alone. spoolProbe is how long it may take
	// for the block that is tried on it after that: all others wait behind that one.
	spoolAgain = time.Second
	spoolProbe = 200 * time.Millisecond
	// spoolLimit is how long the spool may take for a block. When the disk of the node is full
	// or stands still, it has the log and the spool: then senders are refused and turn to
	// another node, which must not take them longer than 2 s. Blocks behind one that was
	// refused get spoolProbe.
	spoolLimit = 600 * time.Millisecond
)

// publishOrSpool puts the block on the log, or into the spool when there is one and the log
// does not take the block in time. Then the block may also be on the log: the fold counts its
// events once. The sequence says that the block is on the log and nowhere else; it is 0 when
// that is not known.
func (a *Appender) publishOrSpool(ctx context.Context, block []byte, at run) (sequence uint64, err error) {
	if a.cfg.Spool == nil {
		return a.publish(ctx, block, at)
	}
	if time.Since(a.away) >= spoolAgain {
		patience := spoolAfter
		if !a.away.IsZero() {
			patience = spoolProbe
		}
		try, cancel := context.WithTimeout(ctx, patience)
		sequence, err = a.publish(try, block, at)
		cancel()
		if err == nil || errata.KindOf(err) == errata.KindLogFull {
			if !a.away.IsZero() && err == nil {
				a.cfg.Logger.Info("the log takes events again; those in the spool follow")
				a.away = time.Time{}
			}
			return sequence, err
		}
		if a.away.IsZero() {
			a.cfg.Logger.Warn("the log does not take events; they go into the spool of this node until it does", "error", err)
		}
		a.away = time.Now()
	}
	patience := spoolLimit
	if a.refused {
		patience = spoolProbe
	}
	try, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = untilKnown(try, unavailable, func() (uint64, error) {
		return publishMsg(try, *a.cfg.Spool, &nats.Msg{Subject: a.cfg.Spool.Prefix + subjectEvents + lane, Data: block}, at.messageID())
	})
	switch {
	case err == nil:
		a.metrics.spooled.Inc()
	case !a.refused:
		a.cfg.Logger.Warn("neither the log nor the spool of this node takes events; senders are refused", "error", err)
	}
	a.refused = err != nil
	return 0, err
}
