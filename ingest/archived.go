package ingest

import errata "github.com/errata-log/errata"

// Archived says whether a project takes no events. It is asked for each request and
// must not block. nil: every project takes events.
type Archived func(project uint64) bool

// Refusal is the error for events of a project that takes none, nil for other projects.
// Its kind is project_archived.
func (a Archived) Refusal(project uint64) *errata.Error {
	if a == nil || !a(project) {
		return nil
	}
	return errata.Errorf(errata.KindProjectArchived, "project %d is archived and takes no events; send to another project, or take this one out of the archive", project).
		With(map[string]any{"project": project})
}
