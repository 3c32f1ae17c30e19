package projector

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// DeploymentRow is a row of the table deployments.
type DeploymentRow struct {
	Project                 uint64
	Environment, Release    string
	Count                   uint64
	FirstMillis, LastMillis int64
	Signature               errata.Signature
	Book                    errata.Book
	ID                      errata.Position
}

// DeploymentRowKey is what tells rows apart.
type DeploymentRowKey struct {
	Book                 errata.Book
	Signature            errata.Signature
	ID                   errata.Position
	Environment, Release string
}

// Key is the key of the row.
func (r DeploymentRow) Key() DeploymentRowKey {
	return DeploymentRowKey{r.Book, r.Signature, r.ID, r.Environment, r.Release}
}

// DeploymentRows are the rows of the model, and of the tables.
type DeploymentRows map[DeploymentRowKey]DeploymentRow

// Add merges a row into the others, as ClickHouse does.
func (m DeploymentRows) Add(r DeploymentRow) {
	if old, there := m[r.Key()]; there {
		r.Count += old.Count
		r.FirstMillis, r.LastMillis = min(r.FirstMillis, old.FirstMillis), max(r.LastMillis, old.LastMillis)
	}
	m[r.Key()] = r
}

// Of returns the rows of the record.
func (m DeploymentRows) Of(r errata.Record) DeploymentRows {
	of := DeploymentRows{}
	for key, row := range m {
		if key.Book == r.Book && key.Signature == r.Signature && key.ID == r.ID {
			of[key] = row
		}
	}
	return of
}

// ModelDeploy is the model of the fold: one event comes to the record, which exists
// already.
func ModelDeploy(r *errata.Record, rows DeploymentRows, e errata.Event) {
	if r.Project == 0 {
		r.Project = e.Project
	}
	row := DeploymentRow{
		Book: r.Book, Signature: r.Signature, ID: r.ID, Project: r.Project, Count: 1,
		FirstMillis: e.Time.UnixMilli(), LastMillis: e.Time.UnixMilli(),
	}
	r.Environments, row.Environment = modelName(r.Environments, e.Environment, maxEnvironments)
	r.Releases, row.Release = modelName(r.Releases, e.Release, maxReleases)
	rows.Add(row)
}

// modelName puts the name in front of the others.
func modelName(names []string, name string, most int) (now []string, countedAs string) {
	at := slices.Index(names, name)
	switch {
	case name == "" || name == "(other)":
		return names, name
	case at < 0 && len(names) >= most:
		return names, "(other)"
	}
	now = []string{name}
	for i, other := range names {
		if i != at {
			now = append(now, other)
		}
	}
	return now, name
}

// SetDeploymentLimits makes the sets of records smaller.
func SetDeploymentLimits(environments, releases int) (restore func()) {
	oldEnvironments, oldReleases := maxEnvironments, maxReleases
	maxEnvironments, maxReleases = environments, releases
	return func() { maxEnvironments, maxReleases = oldEnvironments, oldReleases }
}
