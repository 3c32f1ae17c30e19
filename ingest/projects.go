package ingest

import (
	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projects"
)

// Projects says what receivers must know of a project. It is asked for each request and
// must not block.
type Projects func(project uint64) projects.AtDoor

// Archived is an [Archived].
func (p Projects) Archived(project uint64) bool { return p(project).Archived }

// Rules are the noise rules of the project, for [Noise].
func (p Projects) Rules(project uint64) []projects.Rule { return p(project).Noise }

// RetentionDays is how many days the project keeps records, 0 for ever.
func (p Projects) RetentionDays(project uint64) int { return p(project).RetentionDays }

// Context says what is kept of the context of the project's events.
func (p Projects) Context(project uint64) projects.Context { return p(project).Context }

// EventsPerMinute is the limit that the project has of its own, 0 for no limit; own is
// false for none.
func (p Projects) EventsPerMinute(project uint64) (perMinute uint64, own bool) {
	limit := p(project).EventsPerMinute
	return limit.Max, limit.Set
}

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
