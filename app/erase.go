package app

import (
	"context"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// eraser takes persons out of the records, and out of the snapshot of them.
type eraser struct {
	commander *eventlog.Commander
	store     *projector.Store
	retention *retention
}

var _ api.Eraser = eraser{}

// Erase puts the erasure on the log. What it replaced stands in the tables' parts
// until they are merged, which is done now. A snapshot from before still knows
// the person, so it is taken anew; with cut, the log begins behind the erasure.
func (e eraser) Erase(ctx context.Context, users, addresses []string, cut bool) (errata.Changed, error) {
	changed, err := e.commander.Erase(ctx, users, addresses)
	if err != nil {
		return errata.Changed{}, err
	}
	if err := e.store.Tidy(ctx); err != nil {
		return errata.Changed{}, errata.Errorf(errata.KindStoreUnavailable,
			"The records are erased. What they were still stands on the disk, because ClickHouse did not merge its tables: send the request again.").Because(err)
	}
	return changed, e.retention.renew(ctx, cut)
}

// renew takes the snapshot of the records anew if there is one, and purges the
// facts before now from the log if asked to. Errors: already_running while a
// replay reads the log.
func (r *retention) renew(ctx context.Context, cut bool) error {
	ctx, cancel := context.WithTimeout(ctx, retentionTimeout)
	defer cancel()
	state, err := r.app.logState(ctx)
	if err != nil {
		return err
	}
	keep := state.First
	switch {
	case cut:
		keep = state.Last
	case state.First <= 1:
		return nil // nothing was ever purged, and so there is no snapshot
	}
	select {
	case r.app.history <- struct{}{}:
		defer func() { <-r.app.history }()
	default:
		return errata.Errorf(errata.KindAlreadyRunning,
			"The records are erased. A replay reads the log, so that neither snapshot nor log could be renewed: send the request again when it has ended.")
	}
	return r.purge(ctx, keep)
}
