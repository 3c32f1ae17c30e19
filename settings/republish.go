package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/errata-log/errata/eventlog"
)

// Republish puts the newest fact of each setting that was ever set on the log
// again, with the value that it replaces as its own, so that the facts before
// can be purged. A setting that somebody sets meanwhile is left to them.
func (s *Store) Republish(ctx context.Context) error {
	for _, of := range known {
		newest, last, found, err := s.newest(ctx, of.title(), of.foreign)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(newest.Data, &body); err != nil {
			return fmt.Errorf("decode setting %s at %d: %w", of.title(), newest.Sequence, err)
		}
		body["before"] = body["after"]
		data, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode setting %s: %w", of.title(), err)
		}
		if _, err := eventlog.AppendSetting(ctx, s.log, of.title(), data, last); err != nil && !errors.Is(err, eventlog.ErrSettingMoved) {
			return err
		}
	}
	return nil
}
