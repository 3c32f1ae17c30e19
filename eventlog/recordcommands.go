package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
)

// Delete removes the records of the signatures, in both books. Errors of Delete,
// Move, Cleanup, DeleteMatching, MoveMatching and Erase: see [Commander.Do].
func (c *Commander) Delete(ctx context.Context, signatures []errata.Signature) (errata.Changed, error) {
	return c.change(ctx, CommandDelete, Signatures{Signatures: texts(signatures)})
}

// Move gives the records of the signatures a status.
func (c *Commander) Move(ctx context.Context, signatures []errata.Signature, status errata.Status) (errata.Changed, error) {
	return c.change(ctx, CommandStatus, StatusMove{Signatures: texts(signatures), Status: status})
}

// Cleanup removes the records that were last seen at the time before or earlier.
func (c *Commander) Cleanup(ctx context.Context, before time.Time) (errata.Changed, error) {
	return c.change(ctx, CommandCleanup, Cleanup{Before: before.UnixMilli()})
}

// DeleteMatching removes the records that match a filter of lists, as the package
// query encodes it.
func (c *Commander) DeleteMatching(ctx context.Context, filter json.RawMessage) (errata.Changed, error) {
	return c.change(ctx, CommandMatching, Matching{Filter: filter})
}

// MoveMatching gives the records that match the filter a status.
func (c *Commander) MoveMatching(ctx context.Context, filter json.RawMessage, status errata.Status) (errata.Changed, error) {
	return c.change(ctx, CommandMatching, Matching{Filter: filter, Status: status})
}

// Erase removes the data of users and addresses from the records; see
// [CommandErase].
func (c *Commander) Erase(ctx context.Context, users, addresses []string) (errata.Changed, error) {
	return c.change(ctx, CommandErase, Erase{Users: users, Addresses: addresses})
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
