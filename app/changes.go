package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
)

// openCommander makes the way of commands onto the log.
func (a *App) openCommander(context.Context) (err error) {
	a.commander, err = eventlog.NewCommander(eventlog.CommanderConfig{Log: a.stream(), Answers: a.projector.Store()})
	if err != nil {
		return err
	}
	a.cleanups.add("commander", func(context.Context) error { return a.commander.Close() })
	return nil
}

// changes puts what administrators do to records on the log.
type changes struct{ commander *eventlog.Commander }

var _ api.Changes = changes{}

// Delete removes the records of the signatures.
func (c changes) Delete(ctx context.Context, signatures []errata.Signature) (api.Changed, error) {
	return c.do(ctx, eventlog.CommandDelete, eventlog.Signatures{Signatures: texts(signatures)})
}

// Move gives records a status.
func (c changes) Move(ctx context.Context, signatures []errata.Signature, status errata.Status) (api.Changed, error) {
	return c.do(ctx, eventlog.CommandStatus, eventlog.StatusMove{Signatures: texts(signatures), Status: status})
}

// Cleanup removes the records last seen at before or earlier.
func (c changes) Cleanup(ctx context.Context, before time.Time) (api.Changed, error) {
	return c.do(ctx, eventlog.CommandCleanup, eventlog.Cleanup{Before: before.UnixMilli()})
}

func (c changes) do(ctx context.Context, name string, body any) (api.Changed, error) {
	answer, err := c.commander.Do(ctx, name, body)
	if err != nil {
		return api.Changed{}, err
	}
	var told struct {
		eventlog.Changed
		eventlog.Refused
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return api.Changed{}, fmt.Errorf("decode the answer to %s: %w", name, err)
	}
	if told.Error != "" {
		return api.Changed{}, fmt.Errorf("the projector refused %s: %s", name, told.Error)
	}
	return api.Changed(told.Changed), nil
}

func texts(signatures []errata.Signature) []string {
	list := make([]string, len(signatures))
	for i, s := range signatures {
		list[i] = s.String()
	}
	return list
}
