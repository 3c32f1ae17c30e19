package settings

import (
	"context"
	"strconv"
	"strings"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projects"
)

// projectSetting is one project. Its standard value is none. Each project has facts of
// its own, so that a fact stays small. A change is compared with the newest fact of all
// of them, so that no two get the same slug.
type projectSetting struct{ setting[*projects.Project] }

func projectOf(number uint64) projectSetting {
	return projectSetting{setting[*projects.Project]{
		name:  eventlog.ProjectSettings + strconv.FormatUint(number, 10),
		valid: func(p *projects.Project) bool { return p != nil && p.ID == number },
	}}
}

func projectNamed(name string) (anySetting, bool) {
	text, ours := strings.CutPrefix(name, eventlog.ProjectSettings)
	number, err := strconv.ParseUint(text, 10, 64)
	if !ours || err != nil || number == 0 || projectOf(number).name != name {
		return nil, false
	}
	return projectOf(number), true
}

func (of projectSetting) load(into *Snapshot, data []byte) error {
	p, err := of.decode(data)
	if err == nil {
		into.Projects = into.Projects.With(*p)
	}
	return err
}

// Projects are the projects, as in Snapshot. It never blocks.
func (s *Store) Projects() projects.Set { return s.Snapshot().Projects }

// ReadProjects asks the log for the projects, so that a change which any node has
// answered before is seen. Errors: log_unavailable.
func (s *Store) ReadProjects(ctx context.Context) (projects.Set, error) {
	all, _, err := s.projectsAt(ctx)
	return all, err
}

// projectsAt is ReadProjects with the sequence of the newest fact of a project. The set
// may be newer; then a change that is appended behind the sequence is refused.
func (s *Store) projectsAt(ctx context.Context) (all projects.Set, last uint64, err error) {
	from := s.projectsRead.Load()
	changed, last, err := eventlog.SettingsAfter(ctx, s.log, eventlog.ProjectSettings, from)
	if err != nil {
		return projects.Set{}, 0, err
	}
	for _, f := range changed {
		s.apply(f)
	}
	s.projectsRead.CompareAndSwap(from, last) // otherwise another reader has done it
	return s.Projects(), last, nil
}

// UpdateProject writes the project that change makes of the set in force, and returns
// it; when the set has it already, nothing is written. change is called again when
// another change of any project came first. Its error is returned as it is. Errors:
// log_full; log_unavailable when the change may or may not take effect.
func (s *Store) UpdateProject(ctx context.Context, change func(projects.Set) (projects.Project, error)) (after projects.Project, err error) {
	err = s.amend(ctx, appendProject, func() (f eventlog.Setting, behind uint64, err error) {
		all, last, err := s.projectsAt(ctx)
		if err != nil {
			return f, 0, err
		}
		if after, err = change(all); err != nil {
			return f, 0, err
		}
		var before *projects.Project
		if made, found := all.Get(after.ID); found {
			if made.Equal(after) {
				return f, 0, nil
			}
			before = &made
		}
		of := projectOf(after.ID)
		f.Name = of.name
		f.Data, err = of.encode(before, &after)
		return f, last, err
	})
	return after, err
}

// appendProject compares with the newest fact of all projects.
func appendProject(ctx context.Context, log eventlog.Log, name string, data []byte, behind uint64) (uint64, error) {
	return eventlog.AppendSettingIn(ctx, log, eventlog.ProjectSettings, name, data, behind)
}
