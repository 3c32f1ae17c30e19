package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

var (
	//go:embed sql/expired_occurrences.sql
	sqlExpiredOccurrences string
	//go:embed sql/expire_occurrences.sql
	sqlExpireOccurrences string
	//go:embed sql/expire_latest.sql
	sqlExpireLatest string
)

// expiry removes the occurrences of projects that were received before a time.
type expiry struct {
	before   time.Time
	projects []uint64
}

func newExpiry(body eventlog.Expire) (*expiry, error) {
	if len(body.Projects) == 0 {
		return nil, errors.New("it names no project")
	}
	return &expiry{before: time.UnixMilli(body.Before), projects: body.Projects}, nil
}

func (e *expiry) args() []any {
	return []any{clickhouse.Named("before", e.before.UnixMilli()), clickhouse.Named("projects", e.projects)}
}

// expireOccurrences removes the occurrences before the command at the position, with
// their contexts, and returns when nobody sees them any more; a merge takes them from the
// disk. Those after the command stay, also when it runs late. A repeat finds nothing more.
func (s *Store) expireOccurrences(ctx context.Context, e *expiry, at errata.Position) error {
	for _, statement := range []string{sqlExpireOccurrences, sqlExpireLatest} {
		if err := s.delete(ctx, statement, append(e.args(), clickhouse.Named("until", uint64(at)))...); err != nil {
			return fmt.Errorf("remove the occurrences that are kept no longer: %w", err)
		}
	}
	return nil
}

// Expired are those of the projects that have occurrences received before the time.
func (s *Store) Expired(ctx context.Context, projects []uint64, before time.Time) ([]uint64, error) {
	if len(projects) == 0 {
		return nil, nil
	}
	return one[[]uint64](gently(ctx), s, "look for occurrences that are kept no longer", sqlExpiredOccurrences,
		(&expiry{before: before, projects: projects}).args()...)
}
