package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/errata-log/errata/eventlog"
)

// Republish appends the newest fact of each setting to the log again, so that
// the facts before it can be purged. The new fact has one value, before and
// after. A setting that somebody changes meanwhile is not appended again.
func (s *Store) Republish(ctx context.Context) error {
	all, _, err := s.all(ctx)
	if err != nil {
		return err
	}
	for _, of := range all {
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
