package ops

import (
	"context"

	errata "github.com/errata-log/errata"
)

// Eraser removes persons from the records, and from what is stored beside them.
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

// Erase puts the erasure on the log. The rows that it replaces stay in the
// tables' parts until these are merged, so Erase merges them. An older snapshot
// still has the person, so it is taken again; with cut, the facts before the
// erasure are purged. Kinds: log_full, log_unavailable, store_unavailable,
// already_running.
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
