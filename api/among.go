package api

import (
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

const (
	// projectParameter names the projects that an answer is to be about.
	projectParameter = "project"
	// maxProjectRefs bounds the projects of one request. Each that this node does not
	// know is asked for.
	maxProjectRefs = 100
)

// visible are the projects whose records the caller may see. Everything that reads
// records asks for them here, or by [call.among].
func (c *call) visible() query.Projects { return listed(c.projects) }

// listed are the projects with the numbers; nil means all.
func listed(numbers []uint64) query.Projects {
	if numbers == nil {
		return query.Projects{}
	}
	return query.OnlyProjects(numbers...)
}

// among are the projects that an answer is about: of those that the caller may see,
// the ones that the parameter project lists. Errors: invalid_project, log_unavailable.
func (c *call) among() (query.Projects, error) {
	listed, err := c.listed(c.QueryArray(projectParameter))
	return c.visible().And(listed), err
}

// listed are the projects of comma lists of numbers and slugs, all without any.
func (c *call) listed(lists []string) (query.Projects, error) {
	var refs []string
	for ref := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		if ref = strings.ToLower(strings.TrimSpace(ref)); ref != "" && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 0 {
		return query.Projects{}, nil
	}
	if len(refs) > maxProjectRefs {
		return query.Projects{}, invalidProject("project lists %d projects, more than %d: list fewer, or none for all.", len(refs), maxProjectRefs)
	}
	numbers := make([]uint64, len(refs))
	for i, ref := range refs {
		var err error
		if numbers[i], err = c.projectNumber(ref); err != nil {
			return query.Projects{}, err
		}
	}
	return query.OnlyProjects(numbers...), nil
}

// unknownProject stands for the records whose project is not known.
const unknownProject = "0"

// projectNumber is the number of the project with the number or slug. One that was made
// a moment ago on another node is found on the log.
func (c *call) projectNumber(ref string) (uint64, error) {
	if ref == unknownProject {
		return 0, nil
	}
	all := c.service.Projects
	p, err := all.Known().Find(ref)
	if err != nil {
		p, err = all.Find(c.Request.Context(), ref)
	}
	if errata.KindOf(err) == errata.KindNotFound || err == nil && !c.sees(p.ID) {
		return 0, invalidProject("There is no project %q; use the number or the slug of a project.", cut(ref))
	}
	return p.ID, err
}

func invalidProject(format string, args ...any) error {
	return errata.Errorf(errata.KindInvalidProject, format, args...).With(map[string]any{"parameter": projectParameter})
}
