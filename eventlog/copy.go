package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/ordered"
	"github.com/errata-log/errata/logfiles"
)

// Copy is a copy of a log on a NATS server. Another log is mended from it. Each
// question has a timeout of two seconds. It implements [logfiles.Copy].
type Copy struct{ Log Log }

// Created returns the time at which the copied log was made.
func (c Copy) Created(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	state, err := Inspect(ctx, c.Log)
	return state.Created, c.explain(err)
}

// Next asks the leader of the stream, which returns the header as it is stored.
func (c Copy) Next(ctx context.Context, from uint64) (logfiles.Message, bool, error) {
	m, found, err := nextMessage(ctx, c.Log, from)
	return logfiles.Message{
		Sequence: m.sequence, Time: m.time.UnixNano(), Subject: m.subject, Head: m.head, Data: m.data,
	}, found, c.explain(err)
}

// explain adds to an error what to do about it. When a user lacks a permission, the
// server does not answer, and the client finds the reason in the last error of the
// connection.
func (c Copy) explain(err error) error {
	if err == nil {
		return nil
	}
	hint := "is the server still up? Nothing was changed, the command can be given again"
	switch last := c.Log.NATS.LastError(); {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		hint = fmt.Sprintf("the server has no stream %s; start one on a copy of DATA/nats, or name one of the cluster that holds the log", c.Log.Stream)
	case errors.Is(last, nats.ErrPermissionViolation):
		hint = fmt.Sprintf("the user needs the right to publish to %sSTREAM.INFO.%s and STREAM.MSG.GET.%[2]s", ordered.APIPrefix(c.Log.JetStream), c.Log.Stream)
		err = errors.Join(err, last)
	}
	return fmt.Errorf("the copy at %s: %w; %s", cmp.Or(c.Log.NATS.ConnectedUrlRedacted(), "a server that went away"), err, hint)
}
