package projects

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

// Facts are the projects on the log; a *settings.Store has them.
type Facts interface {
	// Projects is this node's copy, at most a second old.
	Projects() Set
	// ReadProjects asks the log, so that a change which any node has answered before
	// is seen. Errors: log_unavailable.
	ReadProjects(ctx context.Context) (Set, error)
	// UpdateProject writes the project that change makes of the set in force, unless
	// the set has it already. change is called again when another change came first.
	UpdateProject(ctx context.Context, change func(Set) (Project, error)) (Project, error)
}

// Keys are the API keys; an *[access.Store] has them.
type Keys interface {
	List() []access.Key
	// Changed is closed when List is another one.
	Changed() <-chan struct{}
	// ClaimProject takes a number so that no new project gets it, for 0 the lowest one
	// that is free.
	ClaimProject(ctx context.Context, number uint64) (uint64, error)
	Create(ctx context.Context, n access.NewKey) (access.Key, string, error)
}

// Config is what a [Service] needs.
type Config struct {
	Facts Facts
	Keys  Keys
	// Numbers are those of events that come without a key.
	Numbers []uint64
	// Now is the clock, nil for the system's.
	Now func() time.Time
}

// Service makes, finds and changes projects. All methods may be called at once from
// many goroutines.
type Service struct {
	cfg Config

	mu sync.Mutex
	// keys says of projects whose first key this process tried to make whether a call
	// makes it or has made it, or failed.
	keys map[uint64]bool
}

// NewService checks the configuration.
func NewService(cfg Config) (*Service, error) {
	if cfg.Facts == nil || cfg.Keys == nil {
		return nil, errors.New("projects: Facts and Keys are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, keys: map[uint64]bool{}}, nil
}

// Begin makes the first project, unless there is one with its number, and keeps the
// numbers of events without a key from being given out. Any number of nodes may call it
// at once, again at each start. Errors: log_full, log_unavailable.
func (s *Service) Begin(ctx context.Context) error {
	for _, number := range append([]uint64{DefaultNumber}, s.cfg.Numbers...) {
		if _, err := s.cfg.Keys.ClaimProject(ctx, number); err != nil {
			return fmt.Errorf("claim project %d: %w", number, err)
		}
	}
	_, err := s.cfg.Facts.UpdateProject(ctx, func(all Set) (Project, error) {
		if made, found := all.Get(DefaultNumber); found {
			return made, nil
		}
		first := unnamed(DefaultNumber, s.now())
		first.Name, first.Slug = DefaultName, all.freeSlug(DefaultName, DefaultNumber)
		return first, nil
	})
	if err != nil {
		return fmt.Errorf("make the first project: %w", err)
	}
	return nil
}

// List are all projects in the order of their numbers, also those of numbers that are
// used and that nobody made a project of. Errors: log_unavailable.
func (s *Service) List(ctx context.Context) ([]Project, error) {
	all, err := s.cfg.Facts.ReadProjects(ctx)
	if err != nil {
		return nil, err
	}
	return all.withUsed(s.used()).All(), nil
}

// Known are the projects that somebody made, as in Facts.Projects. It never blocks.
func (s *Service) Known() Set { return s.cfg.Facts.Projects() }

// Find is the project with the number or the slug. Errors: not_found, log_unavailable.
func (s *Service) Find(ctx context.Context, ref string) (Project, error) {
	all, err := s.cfg.Facts.ReadProjects(ctx)
	if err != nil {
		return Project{}, err
	}
	return all.withUsed(s.used()).Find(ref)
}

// Update changes the project with the number or the slug. Errors: not_found, those of
// [Patch], log_full; log_unavailable when the change may or may not take effect.
func (s *Service) Update(ctx context.Context, ref string, patch Patch) (Project, error) {
	var present Project
	after, err := s.cfg.Facts.UpdateProject(ctx, func(made Set) (after Project, err error) {
		all := made.withUsed(s.used())
		if present, err = all.Find(ref); err != nil {
			return Project{}, err
		}
		if after, err = all.changed(present, patch); err == nil && after.Equal(present) {
			return present, errUnchanged
		}
		return after, err
	})
	if errors.Is(err, errUnchanged) {
		return present, nil
	}
	return after, err
}

// errUnchanged keeps a patch that changes nothing from making a project of a number.
var errUnchanged = errors.New("the patch changes nothing")

// Archived says whether the project takes no events. It never blocks, and on every node
// it follows a change within a second.
func (s *Service) Archived(number uint64) bool {
	p, found := s.cfg.Facts.Projects().Get(number)
	return found && p.Archived
}

// AtDoor is what receivers must know of the project. It never blocks, and follows as
// Archived does. Its rules are another list after each change of the project, and the
// same one up to that.
func (s *Service) AtDoor(number uint64) AtDoor {
	p, _ := s.cfg.Facts.Projects().Get(number)
	return p.atDoor()
}

// AtDoors are those that differ from that of a new project, by number.
func (s *Service) AtDoors() map[uint64]AtDoor {
	all := map[uint64]AtDoor{}
	for _, p := range s.cfg.Facts.Projects().All() {
		if at := p.atDoor(); !at.usual() {
			all[p.ID] = at
		}
	}
	return all
}

// RetentionDays is for how many days each project keeps a record that is not seen any
// more, without those that keep them for ever.
func (s *Service) RetentionDays() map[uint64]int {
	days := map[uint64]int{}
	for _, p := range s.Known().All() {
		if p.RetentionDays > 0 {
			days[p.ID] = p.RetentionDays
		}
	}
	return days
}

// OccurrenceDays is for how many days each project keeps single occurrences.
func (s *Service) OccurrenceDays() map[uint64]int {
	days := map[uint64]int{}
	for _, p := range s.Known().All() {
		days[p.ID] = p.OccurrenceDays
	}
	return days
}

// used are the numbers of keys and of events without a key, with the time of the first
// key.
func (s *Service) used() map[uint64]time.Time {
	used := map[uint64]time.Time{}
	for _, number := range s.cfg.Numbers {
		used[number] = time.Time{}
	}
	for _, key := range s.cfg.Keys.List() { // oldest first
		if key.Project > 0 && used[key.Project].IsZero() {
			used[key.Project] = key.CreatedAt
		}
	}
	return used
}

func (s *Service) now() errata.Instant {
	return errata.Instant(s.cfg.Now().UTC().Truncate(time.Millisecond))
}
