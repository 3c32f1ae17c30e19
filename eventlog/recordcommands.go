package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
)

// Delete removes the records of the signatures, in both books. Like Move, Cleanup,
// DeleteMatching and MoveMatching it changes only records of the projects; nil means
// all projects, an empty list none. Errors of these and of Erase: see [Commander.Do].
func (c *Commander) Delete(ctx context.Context, projects []uint64, signatures []errata.Signature) (errata.Changed, error) {
	body := Signatures{Signatures: texts(signatures), Within: Within{projects}}
	return c.changeIn(ctx, projects, CommandDelete, CommandDeleteIn, body)
}

// Move gives the records of the signatures a status.
func (c *Commander) Move(ctx context.Context, projects []uint64, signatures []errata.Signature, status errata.Status) (errata.Changed, error) {
	body := StatusMove{Signatures: texts(signatures), Status: status, Within: Within{projects}}
	return c.changeIn(ctx, projects, CommandStatus, CommandStatusIn, body)
}

// Cleanup removes the records that were last seen at the time before or earlier.
func (c *Commander) Cleanup(ctx context.Context, projects []uint64, before time.Time) (errata.Changed, error) {
	body := Cleanup{Before: before.UnixMilli(), Within: Within{projects}}
	return c.changeIn(ctx, projects, CommandCleanup, CommandCleanupIn, body)
}

// changeIn sends the command for all projects, or the one within projects.
func (c *Commander) changeIn(ctx context.Context, projects []uint64, all, within string, body any) (errata.Changed, error) {
	switch {
	case projects == nil:
		return c.change(ctx, all, body)
	case len(projects) == 0:
		return errata.Changed{}, nil
	default:
		return c.change(ctx, within, body)
	}
}

// DeleteMatching removes the records that match a filter of lists, as the package
// query encodes it.
func (c *Commander) DeleteMatching(ctx context.Context, projects []uint64, filter json.RawMessage) (errata.Changed, error) {
	return c.changeIn(ctx, projects, CommandMatching, CommandMatching, Matching{Filter: filter, Within: Within{projects}})
}

// MoveMatching gives the records that match the filter a status.
func (c *Commander) MoveMatching(ctx context.Context, projects []uint64, filter json.RawMessage, status errata.Status) (errata.Changed, error) {
	return c.changeIn(ctx, projects, CommandMatching, CommandMatching, Matching{Filter: filter, Status: status, Within: Within{projects}})
}

// Erase removes the data of users and addresses from the records; see
// [CommandErase].
func (c *Commander) Erase(ctx context.Context, users, addresses []string) (errata.Changed, error) {
	return c.change(ctx, CommandErase, Erase{Users: users, Addresses: addresses})
}

// Expire removes the occurrences of the projects, at least one, that were received
// before the time.
func (c *Commander) Expire(ctx context.Context, projects []uint64, before time.Time) error {
	_, err := c.change(ctx, CommandExpire, Expire{Before: before.UnixMilli(), Within: Within{projects}})
	return err
}

// Settle returns when all events that were on the log before the call are in the
// records. It appends a barrier, which changes no record. It does not wait for the
// present end of the log instead: if the last fact there is damaged, the projector
// passes it only when another one follows. Errors: log_full, log_unavailable, and
// store_unavailable when ctx ended before.
func (c *Commander) Settle(ctx context.Context) error {
	_, err := c.Do(ctx, CommandBarrier, nil)
	if errata.KindOf(err) == errata.KindStoreUnavailable {
		late := errata.Errorf(errata.KindStoreUnavailable, "The records do not have all events yet that were taken before; try again shortly.")
		late.RetryAfter, late.Err = retryLater, err
		return late
	}
	return err
}

func (c *Commander) change(ctx context.Context, name string, body any) (errata.Changed, error) {
	answer, err := c.Do(ctx, name, body)
	if err != nil {
		return errata.Changed{}, err
	}
	var told struct {
		errata.Changed
		Refused
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return errata.Changed{}, fmt.Errorf("decode the answer to %s: %w", name, err)
	}
	if told.Error != "" {
		return errata.Changed{}, fmt.Errorf("the projector refused %s: %s", name, told.Error)
	}
	return told.Changed, nil
}

func texts(signatures []errata.Signature) []string {
	list := make([]string, len(signatures))
	for i, s := range signatures {
		list[i] = s.String()
	}
	return list
}
