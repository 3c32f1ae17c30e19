package access

import (
	"slices"

	errata "github.com/errata-log/errata"
)

// Limited reports whether the key sees and changes some projects only.
func (k Key) Limited() bool { return len(k.Projects) > 0 }

// Sees reports whether the key may see and change what belongs to the project. The
// number 0, of what has no known project, is seen only by keys that are not limited.
func (k Key) Sees(project uint64) bool {
	return !k.Limited() || slices.Contains(k.Projects, project)
}

// Governs reports whether the other key belongs to nothing but projects that the key
// sees. A key governs itself.
func (k Key) Governs(other Key) bool {
	switch {
	case !k.Limited(), k.ID == other.ID:
		return true
	case other.Kind == KindIngest:
		return k.Sees(other.Project)
	default:
		return other.Limited() && !slices.ContainsFunc(other.Projects, func(p uint64) bool { return !k.Sees(p) })
	}
}

// checkProjects returns the projects of a new key in order, without repeats. Errors:
// invalid_project, naming the project.
func checkProjects(kind Kind, projects []uint64) ([]uint64, error) {
	if len(projects) == 0 {
		return nil, nil
	}
	refused := func(details map[string]any, format string, args ...any) error {
		details["field"] = "projects"
		return errata.Errorf(errata.KindInvalidProject, format, args...).With(details)
	}
	if kind != KindAdmin {
		return nil, refused(map[string]any{}, "Only a key of kind adm can be limited to projects: a key of kind ing sends for one, and one of kind ops reads the state of the whole service.")
	}
	list := slices.Clone(projects)
	slices.Sort(list)
	list = slices.Compact(list)
	if first, last := list[0], list[len(list)-1]; first == 0 || last > MaxProject {
		wrong := last
		if first == 0 {
			wrong = first
		}
		return nil, refused(map[string]any{"project": wrong}, "A project is a number from 1 to %d.", MaxProject)
	}
	if len(list) > MaxKeyProjects {
		return nil, refused(map[string]any{"maximum": MaxKeyProjects}, "A key is limited to at most %d projects, these are %d; a key without projects sees all of them.", MaxKeyProjects, len(list))
	}
	return list, nil
}
