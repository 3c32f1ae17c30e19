package load

import (
	"context"
	"time"
)

// Paced sends the request over one connection, one every interval, until ctx
// ends. A request that is late is sent at once, as real senders do. answered
// gets the time at which each answered request was due, the first at begin: a
// service that stands still also delays requests that could not be sent meanwhile.
func Paced(ctx context.Context, addr string, req Request, begin time.Time, interval time.Duration, answered func(due time.Time)) error {
	c, err := Dial(ctx, addr, req)
	if err != nil {
		return err
	}
	defer c.Close()
	return OnTime(ctx, begin, interval, func() error {
		c.Fill()
		return c.Succeed()
	}, answered)
}

// OnTime calls send once every interval, as [Paced] sends its request.
func OnTime(ctx context.Context, begin time.Time, interval time.Duration, send func() error, answered func(due time.Time)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := begin; ; due = due.Add(interval) {
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil
			}
		} else if ctx.Err() != nil {
			return nil
		}
		if err := send(); err != nil {
			return err
		}
		answered(due)
	}
}
