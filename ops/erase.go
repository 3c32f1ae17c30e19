package ops

import (
	"context"

	errata "github.com/errata-log/errata"
)

// Eraser takes persons out of the records, and out of what is kept beside them.
// All fields are required.
type Eraser struct {
	// Commander puts the erasure on the log, and says how many records it met.
	Commander interface {
		Erase(ctx context.Context, users, addresses []string) (errata.Changed, error)
	}
	// Store merges the tables; *projector.Store does.
	Store interface {
		Tidy(ctx context.Context) error
	}
	Retention *Retention
}

// Erase puts the erasure on the log. What it replaced stands in the tables' parts
// until they are merged, which is done now. A snapshot from before still knows
// the person, so it is taken anew; with cut, the log begins behind the erasure.
// Kinds: log_full, log_unavailable, store_unavailable, already_running.
func (e Eraser) Erase(ctx context.Context, users, addresses []string, cut bool) (errata.Changed, error) {
	changed, err := e.Commander.Erase(ctx, users, addresses)
	if err != nil {
		return errata.Changed{}, err
	}
	if err := e.Store.Tidy(ctx); err != nil {
		return errata.Changed{}, errata.Errorf(errata.KindStoreUnavailable,
			"The records are erased. What they were still stands on the disk, because ClickHouse did not merge its tables: send the request again.").Because(err)
	}
	return changed, e.Retention.Renew(ctx, cut)
}
