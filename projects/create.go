package projects

import (
	"context"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// maxProjects is how many projects there may be: each node keeps all of them in memory
// and reads them one by one when it starts, and a list shows them all.
const maxProjects = 1000

// making is far longer than a node takes from the fact of a new project to its key. A
// project that has had no key for so long has lost the request that made it. Only tests
// change it.
var making = 10 * time.Second

// Create makes a project with the next free number, and an ingest key for it, whose text
// exists nowhere else. When an earlier call for the same name and platform was cut short
// and has left a project without a key, the project is that one. Errors: invalid_name,
// invalid_platform, too_many_projects, log_full; log_unavailable when the project may or
// may not be there, or has no key yet: then the same call again finishes it.
func (s *Service) Create(ctx context.Context, n New) (p Project, key access.Key, text string, err error) {
	patch := Patch{Name: errata.Sent(n.Name), Platform: errata.Sent(n.Platform)}
	wanted, err := (Set{}).changed(unnamed(DefaultNumber, s.now()), patch)
	if err != nil {
		return Project{}, access.Key{}, "", err // before a number is taken
	}
	p, found, err := s.leftOver(ctx, wanted)
	if err == nil && !found {
		p, err = s.begin(ctx, patch)
	}
	if err != nil {
		return Project{}, access.Key{}, "", err
	}
	key, text, err = s.cfg.Keys.Create(ctx, access.NewKey{Name: p.Name, Kind: access.KindIngest, Project: p.ID})
	if err != nil {
		s.drop(p.ID)
		return p, access.Key{}, "", errata.Errorf(errata.KindOf(err),
			"Project %d is made, and its ingest key is not; make the project again with the same name and platform, which makes its key.", p.ID).Because(err)
	}
	return p, key, text, nil
}

// begin makes a project without a key.
func (s *Service) begin(ctx context.Context, patch Patch) (Project, error) {
	full := func(all Set) error {
		if len(all.byNumber) < maxProjects {
			return nil
		}
		return errata.Errorf(errata.KindTooManyProjects, "There are %d projects, and no more can be made; use one that is there.", maxProjects)
	}
	if err := full(s.cfg.Facts.Projects()); err != nil {
		return Project{}, err
	}
	number, err := s.cfg.Keys.ClaimProject(ctx, 0)
	if err != nil {
		return Project{}, err
	}
	s.take(number)
	p, err := s.cfg.Facts.UpdateProject(ctx, func(made Set) (Project, error) {
		all := made.withUsed(s.used())
		if err := full(all); err != nil {
			return Project{}, err
		}
		fresh, err := all.changed(unnamed(number, s.now()), patch)
		fresh.Slug = all.freeSlug(fresh.Name, number)
		return fresh, err
	})
	if err != nil {
		s.drop(number) // it may be there even so
	}
	return p, err
}

// leftOver finds a project that an earlier call for the same one has left without a key.
// Another node may still be making that key. Then leftOver waits until the key is there, or
// until that node has had enough time. Errors: log_unavailable.
func (s *Service) leftOver(ctx context.Context, wanted Project) (p Project, found bool, err error) {
	late := time.NewTimer(making)
	defer late.Stop()
	for waited := false; ; {
		changed := s.cfg.Keys.Changed()
		all, err := s.cfg.Facts.ReadProjects(ctx)
		if err != nil {
			return Project{}, false, err
		}
		p, found := s.keyless(all, wanted)
		if !found {
			return Project{}, false, nil
		}
		lost := waited || s.cfg.Now().Sub(time.Time(p.CreatedAt)) >= making || s.failed(p.ID)
		switch {
		case lost && s.take(p.ID):
			return p, true, nil
		case lost:
			continue // another call was faster
		}
		select {
		case <-changed:
		case <-late.C:
			waited = true
		case <-ctx.Done(): // as reading says
		}
	}
}

// keyless is the oldest project with the wanted name and platform that has never had a
// key and gets none from a call in this process. Numbers of events without a key need
// none, the first start gives the first project its key, and an archived project is what
// somebody is done with.
func (s *Service) keyless(all Set, wanted Project) (p Project, found bool) {
	keyed := map[uint64]bool{DefaultNumber: true}
	for number := range s.used() {
		keyed[number] = true
	}
	for _, p := range all.All() {
		if p.Name == wanted.Name && p.Platform == wanted.Platform && !p.Archived && !keyed[p.ID] && !s.taken(p.ID) {
			return p, true
		}
	}
	return Project{}, false
}

// take notes that a call of this process makes the project's key. It is false when
// another call does or has done so.
func (s *Service) take(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[number] {
		return false
	}
	s.keys[number] = true
	return true
}

// drop notes that the call which took the project has failed.
func (s *Service) drop(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[number] = false
}

func (s *Service) taken(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[number]
}

// failed says whether a call of this process was the last that tried to make the key.
func (s *Service) failed(number uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken, tried := s.keys[number]
	return tried && !taken
}
