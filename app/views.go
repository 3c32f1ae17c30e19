package app

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/migrations"
)

// codeAccessDenied is ClickHouse's ACCESS_DENIED.
const codeAccessDenied = 497

// makeViews makes the views for analysts. On a server of somebody else's the
// user may have rights on one database only: the service needs no view, and
// goes on without.
func (a *App) makeViews(ctx context.Context) error {
	views := a.engines.Views()
	err := migrations.Views(ctx, a.engines.ClickHouseOptions(), views)
	if answer := (*clickhouse.Exception)(nil); errors.As(err, &answer) && answer.Code == codeAccessDenied {
		a.logger.Warn("there are no views for analysts: the ClickHouse user may not make them, see docs/analysts.md", "database", views, "error", err)
		return nil
	}
	return err
}
