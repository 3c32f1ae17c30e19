package api

import (
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// Reach says what a route shows or changes, and so what it does for a key that is
// limited to projects. Each route of the table has one.
type Reach string

// The reaches.
const (
	// ReachReads shows what belongs to projects: a limited key is shown what belongs to
	// its own, and nothing else exists for it.
	ReachReads Reach = "reads projects"
	// ReachChanges changes what belongs to projects, of a limited key only its own.
	ReachChanges Reach = "changes projects"
	// ReachService shows or changes the whole service. It refuses limited keys.
	ReachService Reach = "whole service"
	// ReachOpen shows and changes nothing that belongs to a project.
	ReachOpen Reach = "open"
)

// confine takes the limits of a request from its key, for the handler and all that it
// calls. It is the only place that does. Errors: key_is_limited.
func (c *call) confine(r route) error {
	switch r.Reach {
	case ReachOpen:
		return nil
	case ReachReads, ReachChanges:
		c.projects = c.key.Projects
		return nil
	default: // also a route that does not say it
		if !c.key.Limited() {
			return nil
		}
		return limited("This concerns the whole service, and this key is limited to projects; use a key without projects.")
	}
}

// limited is the error of a limited key that asks for more.
func limited(message string) *errata.Error {
	return errata.Errorf(errata.KindKeyIsLimited, "%s", message)
}

// sees says whether the caller sees the project.
func (c *call) sees(project uint64) bool {
	return c.projects == nil || slices.Contains(c.projects, project)
}

// confineNew gives a new key the projects of its maker, or refuses it when it would see
// or send more. Errors: key_is_limited.
func confineNew(maker access.Key, n access.NewKey) (access.NewKey, error) {
	if !maker.Limited() {
		return n, nil
	}
	switch n.Kind {
	case access.KindIngest:
		if !maker.Sees(n.Project) { // 0 would make a new project
			return n, limited("Your key is limited to projects: name one of them as the project of the new key.").
				With(map[string]any{"field": "project", "projects": maker.Projects})
		}
	case access.KindOps:
		return n, limited("Your key is limited to projects and cannot make a key of kind ops, which reads the state of the whole service.")
	default:
		if len(n.Projects) == 0 {
			n.Projects = maker.Projects
		}
		for _, project := range n.Projects {
			if !maker.Sees(project) {
				return n, limited("A key can only hand out projects that it has itself.").
					With(map[string]any{"field": "projects", "project": project})
			}
		}
	}
	return n, nil
}

// checkProjects refuses projects that do not exist. Errors: invalid_project, naming the
// project; log_unavailable.
func (s *service) checkProjects(c *call, numbers []uint64) error {
	if len(numbers) == 0 {
		return nil
	}
	all, err := s.Projects.List(c.Request.Context())
	if err != nil {
		return err
	}
	known := make(map[uint64]bool, len(all))
	for _, p := range all {
		known[p.ID] = true
	}
	for _, number := range numbers {
		if !known[number] {
			return errata.Errorf(errata.KindInvalidProject, "There is no project %d; GET %s/projects lists them.", number, admin).
				With(map[string]any{"field": "projects", "project": number})
		}
	}
	return nil
}

// ownAlarms are the alarms as the caller may see them. What they say can name keys and
// records of any project.
func (c *call) ownAlarms(standing []errata.Alarm) []errata.Alarm {
	if !c.key.Limited() {
		return orEmpty(standing)
	}
	return mapped(standing, func(a *errata.Alarm) errata.Alarm {
		return errata.Alarm{Name: a.Name, Since: a.Since, Detail: "something is wrong with the service", Hint: "ask the people who run it"}
	})
}
