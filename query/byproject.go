package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// ProjectEvents is how often the records of a project occurred.
type ProjectEvents struct {
	Project, Events uint64
}

func projectsStatement(over Range, among Projects) (statement, error) {
	return build("overview_projects.sql", statementData{}, among.fragments(), overviewSettings(false), over.args()...)
}

func (r *Reader) projectEvents(ctx context.Context, over Range, among Projects) ([]ProjectEvents, error) {
	q, err := projectsStatement(over, among)
	if err != nil {
		return nil, err
	}
	var all []ProjectEvents
	err = r.each(ctx, q, func(row driver.Rows) error {
		var of ProjectEvents
		if err := row.Scan(&of.Project, &of.Events); err != nil {
			return fmt.Errorf("read a project: %w", err)
		}
		all = append(all, of)
		return nil
	})
	return all, err
}

// ProjectTotals is what a project has.
type ProjectTotals struct {
	Records uint64
	// Events are those of the range [DefaultRange], also of deleted records.
	Events uint64
}

// ProjectTotals reads the totals of the projects, by their numbers. Projects that
// have nothing are missing. Errors: store_unavailable.
func (r *Reader) ProjectTotals(ctx context.Context, among Projects) (map[uint64]ProjectTotals, error) {
	all := map[uint64]ProjectTotals{}
	if among.None() {
		return all, nil
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	if err := r.trusting(func() error { return r.projectTotals(ctx, among, all) }); err != nil {
		return nil, r.explain(ctx, "count the records of the projects", err)
	}
	return all, nil
}

func totalsByProjectStatement(over Range, among Projects) (statement, error) {
	return build("project_totals.sql", statementData{}, among.fragments(),
		clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1}, over.args()...)
}

func (r *Reader) projectTotals(ctx context.Context, among Projects, all map[uint64]ProjectTotals) error {
	over, err := ParseRange(DefaultRange, r.now())
	if err != nil {
		return err
	}
	q, err := totalsByProjectStatement(over, among)
	if err != nil {
		return err
	}
	return r.each(ctx, q, func(row driver.Rows) error {
		var (
			project, events uint64
			records         int64
		)
		if err := row.Scan(&project, &records, &events); err != nil {
			return fmt.Errorf("read a project: %w", err)
		}
		all[project] = ProjectTotals{Records: uint64(max(records, 0)), Events: events}
		return nil
	})
}

// ProjectsOf reads which projects the signatures of the keys belong to, also when
// their records are deleted. A signature that nobody knows is missing. Errors:
// store_unavailable.
func (r *Reader) ProjectsOf(ctx context.Context, keys []errata.RecordKey) (map[errata.Signature]uint64, error) {
	all := map[errata.Signature]uint64{}
	if len(keys) == 0 {
		return all, nil
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	if err := r.projectsOf(ctx, keys, all); err != nil {
		return nil, r.explain(ctx, "find the projects of records", err)
	}
	return all, nil
}

func (r *Reader) projectsOf(ctx context.Context, keys []errata.RecordKey, all map[errata.Signature]uint64) error {
	q, err := build("projects_of.sql", statementData{}, nil, keySettings(), bind("signatures", signaturesOf(keys)))
	if err != nil {
		return err
	}
	return r.each(ctx, q, func(row driver.Rows) error {
		var (
			signature string
			project   uint64
		)
		if err := row.Scan(&signature, &project); err != nil {
			return fmt.Errorf("read a project: %w", err)
		}
		all[errata.Signature([]byte(signature))] = project
		return nil
	})
}
