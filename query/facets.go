package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

const (
	// facetUsers is how many users the facets list, facetValues how many values of a
	// tag, facetKeys how many tags.
	facetUsers  = 10
	facetValues = 10
	facetKeys   = 64
	// facetLatest is how many occurrences of a record, the latest ones, are read for its users and
	// tags. More would take seconds, and too much memory when each has values of its own.
	// Then fewer are read, but no fewer than fewestLatest.
	facetLatest, fewestLatest = 1 << 20, 1 << 10
)

// Facets are what the occurrences of a record have in common. Environments and Releases
// count all occurrences since the record exists, Users those that are kept, TopUsers and Tags the
// latest 1,048,576 of these, or fewer where they have very many values.
type Facets struct {
	Environments, Releases []Deployed
	// Users is how many different users there are, and TopUsers those that were hit
	// most.
	Users    uint64
	TopUsers []Counted
	// Tags are the most frequent values of each tag.
	Tags map[string][]Counted
}

// Counted is a value and how many occurrences have it.
type Counted struct {
	Value string
	Count uint64
}

// Deployed is an environment or a release, and when it was first and last seen.
type Deployed struct {
	Counted
	FirstSeen, LastSeen time.Time
}

// Facets reads the facets of a record of the projects; of each kind the most frequent
// value comes first. Errors: not_found, store_unavailable.
func (r *Reader) Facets(ctx context.Context, book errata.Book, signature errata.Signature, among Projects) (Facets, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var facets Facets
	err := r.trusting(func() error {
		facets = Facets{Tags: map[string][]Counted{}}
		record, err := r.record(ctx, book, signature, among)
		if err != nil {
			return err
		}
		return atOnce(
			func() error { return r.tagFacets(ctx, &record, &facets) },
			func() error { return r.userFacets(ctx, &record, &facets) },
			func() error { return r.userCount(ctx, &record, &facets) },
			func() error { return r.deploymentFacets(ctx, &record, &facets) },
		)
	})
	if err != nil {
		return Facets{}, r.explain(ctx, "read the facets of a record", err)
	}
	return facets, nil
}

// facetsStatement fills in a file about the rows of one record. The first occurrences, so many as
// before says, are left out.
func facetsStatement(file string, record *errata.Record, before uint64, settings clickhouse.Settings) (statement, error) {
	return build(file, statementData{}, nil, settings,
		append(ofRecord(record), bind("users", uint64(facetUsers)), bind("values", uint64(facetValues)), bind("before", before))...)
}

// latestFacets asks a file about the latest occurrences of the record, and about fewer when the query
// needs too much memory. A query that fails so has not answered with any row yet, since it sorts them.
func (r *Reader) latestFacets(ctx context.Context, file string, record *errata.Record, read func(driver.Rows) error) error {
	for latest := uint64(facetLatest); ; latest /= 4 {
		q, err := facetsStatement(file, record, record.Count-min(record.Count, latest), facetSettings())
		if err != nil {
			return err
		}
		if err = r.each(ctx, q, read); !needsMemory(err) || latest <= fewestLatest {
			return err
		}
	}
}

// facetSettings are for reading all rows of one record.
func facetSettings() clickhouse.Settings {
	return clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1, "use_skip_indexes": 0, "merge_tree_min_rows_for_concurrent_read": shareRows}
}

func (r *Reader) deploymentFacets(ctx context.Context, record *errata.Record, facets *Facets) error {
	q, err := facetsStatement("facets_deployments.sql", record, 0, keySettings())
	if err != nil {
		return err
	}
	environments, releases := map[string]Deployed{}, map[string]Deployed{}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			environment, release string
			one                  Deployed
		)
		if err := row.Scan(&environment, &release, &one.Count, &one.FirstSeen, &one.LastSeen); err != nil {
			return fmt.Errorf("read a deployment: %w", err)
		}
		one.FirstSeen, one.LastSeen = one.FirstSeen.UTC(), one.LastSeen.UTC()
		addDeployed(environments, environment, one)
		addDeployed(releases, release, one)
		return nil
	})
	facets.Environments, facets.Releases = byCount(environments), byCount(releases)
	return err
}

func addDeployed(all map[string]Deployed, name string, one Deployed) {
	sum, known := all[name]
	if !known {
		sum, sum.Count = one, 0
	}
	sum.Value, sum.Count = name, sum.Count+one.Count
	if one.FirstSeen.Before(sum.FirstSeen) {
		sum.FirstSeen = one.FirstSeen
	}
	if one.LastSeen.After(sum.LastSeen) {
		sum.LastSeen = one.LastSeen
	}
	all[name] = sum
}

func byCount(all map[string]Deployed) []Deployed {
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b Deployed) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	return list
}

func (r *Reader) userFacets(ctx context.Context, record *errata.Record, facets *Facets) error {
	return r.latestFacets(ctx, "facets_users.sql", record, func(row driver.Rows) error {
		var (
			hash uint64
			one  Counted
		)
		if err := row.Scan(&hash, &one.Value, &one.Count); err != nil {
			return fmt.Errorf("read a user: %w", err)
		}
		one.Value = userText(hash, one.Value)
		facets.TopUsers = append(facets.TopUsers, one)
		return nil
	})
}

func (r *Reader) userCount(ctx context.Context, record *errata.Record, facets *Facets) error {
	counted, err := r.usersNow(ctx, []errata.Signature{record.Signature})
	facets.Users = counted[record.ID]
	return err
}

func (r *Reader) tagFacets(ctx context.Context, record *errata.Record, facets *Facets) error {
	return r.latestFacets(ctx, "facets_tags.sql", record, func(row driver.Rows) error {
		var (
			tag string
			one Counted
		)
		if err := row.Scan(&tag, &one.Count); err != nil {
			return fmt.Errorf("read a tag: %w", err)
		}
		key, value, _ := strings.Cut(tag, tagSeparator)
		if _, known := facets.Tags[key]; !known && len(facets.Tags) == facetKeys {
			return nil
		}
		one.Value = value
		facets.Tags[key] = append(facets.Tags[key], one)
		return nil
	})
}
