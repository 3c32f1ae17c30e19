package querytest

import (
	"slices"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// Occurrence counts events of the record with the id in one deployment.
type Occurrence struct {
	ID                   errata.Position
	Environment, Release string
	Count                uint64
	First, Last          time.Time
}

// Single is one occurrence of the record with the id.
type Single struct {
	ID                   errata.Position
	Environment, Release string
	Tags                 []errata.Tag
	Time                 time.Time
}

// Tagged are the occurrences that have all of the tags.
func Tagged(all []Single, tags []errata.Tag) (tagged []Occurrence) {
	for _, s := range all {
		has := true
		for _, tag := range tags {
			has = has && slices.Contains(s.Tags, tag)
		}
		if has {
			tagged = append(tagged, Occurrence{ID: s.ID, Environment: s.Environment, Release: s.Release, Count: 1, First: s.Time, Last: s.Time})
		}
	}
	return tagged
}

// Scope is the records with the numbers of the occurrences in the filter's environments
// and releases. Records without such an occurrence are left out.
func (all Ready) Scope(occurrences []Occurrence, f query.Filter) Ready {
	if !f.Scoped() {
		return all
	}
	sums := map[errata.Position]Occurrence{}
	for _, o := range occurrences {
		if !named(o.Environment, f.Environments) || !named(o.Release, f.Releases) {
			continue
		}
		sum, known := sums[o.ID]
		if !known || o.First.Before(sum.First) {
			sum.First = o.First
		}
		if !known || o.Last.After(sum.Last) {
			sum.Last = o.Last
		}
		sum.Count += o.Count
		sums[o.ID] = sum
	}
	var scoped Ready
	for _, r := range all {
		if sum, there := sums[r.ID]; there {
			r.Count, r.FirstSeen, r.LastSeen = sum.Count, sum.First, sum.Last
			scoped = append(scoped, r)
		}
	}
	return scoped
}

// named says whether one of the patterns is the name; no patterns mean all names.
func named(name string, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool { return like(name, pattern) })
}

func like(name, pattern string) bool {
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return name == pattern
	}
	rest, begins := strings.CutPrefix(name, before)
	for begins {
		if like(rest, after) {
			return true
		}
		if rest == "" {
			return false
		}
		rest = rest[1:]
	}
	return false
}
