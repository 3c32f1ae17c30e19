package ops

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/projector"
)

// refoldPauses are the pauses between tries: another replay may run, or ClickHouse
// may be away.
var refoldPauses = background.Pauses{First: time.Second, Most: time.Minute}

// RefoldConfig is what a Refold needs. All fields are required.
type RefoldConfig struct {
	// Checkpoint reads the checkpoint of the records.
	Checkpoint func(context.Context) (projector.Checkpoint, error)
	// Replay is that of the [Replayer].
	Replay func(ctx context.Context, force bool) (ReplayResult, error)
	// Sole says that no other node writes the tables. Only then they may be
	// exchanged without an operator, who stops the other nodes first.
	Sole   bool
	Logger *slog.Logger
}

// Refold makes the records again, once, when an older version has made some of them.
// It is a replay like any other: it changes nothing when the log gives other records
// in more than what the older version saw otherwise.
type Refold struct {
	cfg  RefoldConfig
	work background.Runner
}

// NewRefold does nothing yet.
func NewRefold(cfg RefoldConfig) *Refold { return &Refold{cfg: cfg} }

// Start begins it in the background, when the records are up.
func (r *Refold) Start() { r.work.Start(r.run) }

// Stop ends it, and waits for that at most until ctx ends. The next start begins it again.
func (r *Refold) Stop(ctx context.Context) error { return r.work.Stop(ctx) }

func (r *Refold) run(ctx context.Context) {
	tell := background.Tell(r.cfg.Logger.Warn, "the records of an older version are not made again yet")
	for tries, row := refoldPauses.Begin(), 1; ; row++ {
		err := r.try(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		tell(err, row)
		if !tries.Wait(ctx) {
			return
		}
	}
}

// try returns nil when there is nothing more to do.
func (r *Refold) try(ctx context.Context) error {
	cp, err := r.cfg.Checkpoint(ctx)
	if err != nil || !cp.Outdated() {
		return err
	}
	if !r.cfg.Sole {
		r.cfg.Logger.Warn(outdatedDetail, "hint", outdatedHint)
		return nil
	}
	r.cfg.Logger.Info(outdatedDetail + "; they are made again now")
	done, err := r.cfg.Replay(ctx, false)
	switch kind := errata.KindOf(err); {
	case err == nil:
		r.cfg.Logger.Info("made the records again", "records", done.Rebuilt.Records, "facts", done.Facts, "took", time.Duration(done.TookMS)*time.Millisecond)
		return nil
	case kind == errata.KindHistoryIncomplete, kind == errata.KindProjectionDiffers:
		r.cfg.Logger.Warn("the records of an older version stay as they are", "reason", err)
		return nil
	default:
		return fmt.Errorf("make the records again: %w", err)
	}
}

const (
	outdatedDetail = "an older version has made some records, which lack what this one adds"
	outdatedHint   = "errata replay makes them again; with several nodes on one ClickHouse, stop the others first"
)
