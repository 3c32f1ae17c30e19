package projector

import (
	"cmp"
	"slices"

	errata "github.com/errata-log/errata"
)

// maxEnvironments and maxReleases are how many names of each kind a record tells
// apart. They stand in its row, which each of its batches writes again, so an
// environment for each branch must not make it grow for ever. Events of further
// names are counted together. Only tests change them.
var maxEnvironments, maxReleases = 20, 200

const (
	// otherName is the name under which they are counted.
	otherName = "(other)"
	// indexedDeployments is from how many on a map finds them faster than a search.
	indexedDeployments = 16
	// deploymentBytes is about what one takes in the memory of a batch.
	deploymentBytes = 256
)

// deployment counts the events of one environment and release, either of which may
// be empty.
type deployment struct {
	environment, release string
	// count, first and last are those of the events that the table deployments does
	// not hold yet; the times are Unix milliseconds.
	count       uint64
	first, last int64
	// begin and end are the positions of the first and the last event of all.
	begin, end errata.Position
}

// add adds a part of the same events, of any other stretch of the log.
func (d *deployment) add(part deployment) {
	if d.count == 0 {
		d.first, d.last = part.first, part.last
	} else if part.count > 0 {
		d.first, d.last = min(d.first, part.first), max(d.last, part.last)
	}
	d.count += part.count
	d.begin, d.end = min(d.begin, part.begin), max(d.end, part.end)
}

// deploymentKey tells deployments apart.
type deploymentKey struct{ environment, release string }

// deploymentList counts events by their deployment. Most lists have one.
type deploymentList struct {
	list  []deployment
	used  int                   // the last that was looked for
	index map[deploymentKey]int // nil while the list is short
}

// find returns the deployment, nil when the list does not have it. It copies no
// text.
func (l *deploymentList) find(environment, release []byte) *deployment {
	if l.used < len(l.list) {
		if d := &l.list[l.used]; d.release == string(release) && d.environment == string(environment) {
			return d
		}
	}
	if l.index != nil {
		i, there := l.index[deploymentKey{string(environment), string(release)}]
		if !there {
			return nil
		}
		l.used = i
		return &l.list[i]
	}
	for i := range l.list {
		if d := &l.list[i]; d.release == string(release) && d.environment == string(environment) {
			l.used = i
			return d
		}
	}
	return nil
}

// append adds a deployment that the list does not have.
func (l *deploymentList) append(d deployment) {
	l.used = len(l.list)
	l.list = append(l.list, d)
	switch {
	case l.index != nil:
		l.index[deploymentKey{d.environment, d.release}] = l.used
	case len(l.list) > indexedDeployments:
		l.index = make(map[deploymentKey]int, 2*len(l.list))
		for i, d := range l.list {
			l.index[deploymentKey{d.environment, d.release}] = i
		}
	}
}

// add adds events to their deployment.
func (l *deploymentList) add(part deployment) {
	if d := l.find([]byte(part.environment), []byte(part.release)); d != nil {
		d.add(part)
		return
	}
	l.append(part)
}

// merge adds the events of another stretch.
func (l *deploymentList) merge(later deploymentList) {
	for _, part := range later.list {
		l.add(part)
	}
}

// place returns the sets of a record after the events of the list, the latest first.
// After it the list has the names under which the events are counted. The sets take
// names in the order in which they first appear on the log, so it does not matter
// how the log is cut into lists.
func (l *deploymentList) place(environments, releases []string) (environmentsNow, releasesNow []string) {
	sets := [...]nameSet{{environments, maxEnvironments}, {releases, maxReleases}}
	if len(l.list) == 1 && sets[0].begins(l.list[0].environment) && sets[1].begins(l.list[0].release) {
		return environments, releases
	}
	for i := range sets {
		sets[i].names = slices.Clone(sets[i].names) // the record shares them
	}
	slices.SortFunc(l.list, func(a, b deployment) int { return cmp.Compare(a.begin, b.begin) })
	latest := make([]int, len(l.list))
	for i := range l.list {
		d := &l.list[i]
		d.environment, d.release = sets[0].join(d.environment), sets[1].join(d.release)
		latest[i] = i
	}
	slices.SortFunc(latest, func(a, b int) int { return cmp.Compare(l.list[a].end, l.list[b].end) })
	for _, i := range latest {
		sets[0].touch(l.list[i].environment)
		sets[1].touch(l.list[i].release)
	}
	together := deploymentList{list: l.list[:0:0]}
	for _, d := range l.list {
		together.add(d)
	}
	*l = together
	return sets[0].names, sets[1].names
}

// nameSet is the set of environments or releases of a record, the latest first.
type nameSet struct {
	names []string
	most  int
}

// begins says whether the name is the latest already, or is never in a set.
func (s *nameSet) begins(name string) bool {
	return name == "" || name == otherName || len(s.names) > 0 && s.names[0] == name
}

// join adds the name while there is room, and returns the name under which its
// events are counted.
func (s *nameSet) join(name string) string {
	switch {
	case name == "" || name == otherName || slices.Contains(s.names, name):
		return name
	case len(s.names) >= s.most:
		return otherName
	}
	s.names = append(s.names, name)
	return name
}

// touch makes a name of the set the latest.
func (s *nameSet) touch(name string) {
	if at := slices.Index(s.names, name); at > 0 {
		copy(s.names[1:at+1], s.names[:at])
		s.names[0] = name
	}
}
