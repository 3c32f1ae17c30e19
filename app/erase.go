package app

import (
	"context"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
)

// eraser takes persons out of the records, and out of the snapshot of them.
type eraser struct {
	commander *eventlog.Commander
	store     *projector.Store
	retention *ops.Retention
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
	return changed, e.retention.Renew(ctx, cut)
}
