package feed

import (
	"cmp"
	"maps"
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

const (
	// MaxRecords is how many records one message lists: the longest page of the
	// list.
	MaxRecords = 100
	// maxGone is how many deleted records are remembered for a listener: one
	// delete of 1,000 signatures, in both books.
	maxGone = 2000
)

// Changes is what changed since it was last asked.
type Changes struct {
	// Records are new or different, as they are now; the newest change first, at
	// most MaxRecords.
	Records []errata.Record
	// More is how many changes are not listed. A record that changed several
	// times may count several times.
	More uint64
	// Gone were deleted.
	Gone []errata.RecordKey
}

// pending is what changed and was not taken yet. Its size is bounded.
type pending struct {
	records map[errata.RecordKey]errata.Record
	gone    map[errata.RecordKey]struct{}
	more    uint64
}

func newPending() *pending {
	return &pending{records: map[errata.RecordKey]errata.Record{}, gone: map[errata.RecordKey]struct{}{}}
}

func (p *pending) empty() bool { return len(p.records) == 0 && len(p.gone) == 0 && p.more == 0 }

// group is what changed for all who listen to the same projects.
type group struct {
	among query.Projects
	*pending
}

// groupFor is the group of the projects, nil for none.
func groupFor(all []*group, among query.Projects) *group {
	for _, g := range all {
		if g.among.Equal(among) {
			return g
		}
	}
	return nil
}

// changed notes the newest state of a record.
func (p *pending) changed(r errata.Record) {
	key := r.Key()
	if known, there := p.records[key]; there && known.Version > r.Version {
		return
	}
	delete(p.gone, key)
	p.records[key] = r
}

// addUncounted notes that so many records were removed without being named. Who
// listens to some projects learns that it may have been theirs, not how many it were.
func (g *group) addUncounted(n uint64) {
	switch {
	case g.among.None():
		return
	case !g.among.All():
		n = min(n, 1)
	}
	g.more += n
}

// deleted notes that a record is gone.
func (p *pending) deleted(key errata.RecordKey) {
	delete(p.records, key)
	if len(p.gone) < maxGone {
		p.gone[key] = struct{}{}
		return
	}
	if _, known := p.gone[key]; !known {
		p.more++
	}
}

// add adds the changes of another one.
func (p *pending) add(other *pending) {
	for _, r := range other.records {
		p.changed(r)
	}
	for key := range other.gone {
		p.deleted(key)
	}
	p.more += other.more
	p.cut()
}

// cut keeps the newest records and counts the others.
func (p *pending) cut() {
	if len(p.records) <= MaxRecords {
		return
	}
	for i, r := range p.sorted() {
		if i >= MaxRecords {
			delete(p.records, r.Key())
			p.more++
		}
	}
}

// sorted are the records, the newest change first. The key decides between
// those that one command changed.
func (p *pending) sorted() []errata.Record {
	return slices.SortedFunc(maps.Values(p.records), func(a, b errata.Record) int {
		return cmp.Or(cmp.Compare(b.Version, a.Version), a.Key().Compare(b.Key()))
	})
}

// changes is what is pending, for a listener.
func (p *pending) changes() Changes {
	return Changes{Records: p.sorted(), More: p.more, Gone: slices.SortedFunc(maps.Keys(p.gone), errata.RecordKey.Compare)}
}
