package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

// replay measures how fast the projection is made again from the log beside the
// live one, against reading and decoding the same blocks.
func (b *bench) replay() error {
	for _, problems := range b.sizes.replayed {
		if err := b.replayOf(problems); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) replayOf(problems int) (err error) {
	ctx := context.Background()
	dir := filepath.Join(b.dir, "replay")
	f, err := b.folding(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close(), os.RemoveAll(dir)) }()
	if err := fillLog(f.log, b.sizes.events, problems); err != nil {
		return fmt.Errorf("fill the log: %w", err)
	}
	if err := f.visible(ctx); err != nil {
		return err
	}
	if err := f.settle(ctx); err != nil {
		return err
	}
	ceiling, err := readAndDecode(f.log)
	if err != nil {
		return fmt.Errorf("read and decode: %w", err)
	}
	result, err := projector.Rebuild(ctx, f.projector, projector.RebuildConfig{
		Connect: migrations.Connect(ctx, f.engines.ClickHouseOptions(), f.engines.Database()),
	})
	if err != nil {
		return err
	}
	if !result.Equal() || !result.Swapped {
		return fmt.Errorf("the rebuilt projection differs: %s", strings.Join(result.Differences, "; "))
	}
	if result.Events != uint64(b.sizes.events) {
		return fmt.Errorf("%d events were replayed, want %d", result.Events, b.sizes.events)
	}
	took := float64(result.TookMS) / 1000
	perSecond := float64(result.Events) / took
	row{name: fmt.Sprintf("replay, %s events of %s signatures", sizeName(b.sizes.events), sizeName(problems)), ours: perSecond, ceiling: ceiling, unit: "events/s",
		note: fmt.Sprintf("%s s, ratio %.2f, %d records, equal; live projection paused %s ms",
			figure(took), perSecond/ceiling, result.Rebuilt.Records, figure(float64(result.PausedMS)))}.write(b.out)
	return nil
}
