package feed

import (
	"context"
	"maps"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/query"
)

const (
	// minPause is the least time between two polls: listeners are told at most
	// four times a second.
	minPause = 250 * time.Millisecond
	// duty keeps polling below a fifth of one thread of the store, should a
	// poll be slow.
	duty = 4
	// fallback is how often the checkpoint is asked for when nothing is
	// announced: announcements may be lost.
	fallback = 2 * time.Second
	// near is the age of last_seen up to which every poll looks at a record.
	// What applications send whose clocks are wrong by less is told at once.
	near = time.Hour
	// pollTimeout bounds one poll.
	pollTimeout = 10 * time.Second
)

// farEvery is how often a poll also looks at older records: imports and senders
// that were offline change those. Only tests change it.
var farEvery = 15 * time.Second

// poller finds out what changed. One goroutine uses it.
type poller struct {
	feed *Feed
	at   uint64 // told up to this fact
	// Older records were told up to fact farAt, at farTime.
	farAt   uint64
	farTime time.Time
}

func newPoller(f *Feed, at uint64) *poller {
	return &poller{feed: f, at: at, farAt: at, farTime: time.Now()}
}

// run polls until ctx ends.
func (p *poller) run(ctx context.Context) {
	moved := make(chan struct{}, 1)
	signal := func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	}
	stop, err := p.feed.cfg.Follow(signal)
	if err != nil {
		p.feed.cfg.Logger.Warn("listeners learn late of changed records: progress is not announced", "error", err)
	} else {
		defer func() { _ = stop() }() // the connection may be gone, and then there is nothing to stop
	}
	background.Loop{
		Every: fallback, Now: moved, Failed: background.Tell(p.feed.cfg.Logger.Warn, "listeners learn late of changed records; the next poll tries again"),
		Do: func(ctx context.Context) error {
			began := time.Now()
			err := p.poll(ctx) // the next poll that works tells what this one could not
			background.Wait(ctx, max(minPause, duty*time.Since(began)))
			return err
		},
	}.Run(ctx)
}

// poll tells what changed since the last poll.
func (p *poller) poll(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	cfg := &p.feed.cfg
	upto, err := cfg.Checkpoint(limited)
	if err != nil {
		return err
	}
	now, groups := time.Now(), p.feed.groups()
	if upto > p.at {
		commands, at, err := cfg.Commands(limited, p.at, upto)
		if err != nil {
			return err
		}
		upto = at
		if err := p.addChanges(limited, groups, query.Changes{From: behind(p.at), To: behind(upto), SeenFrom: now.Add(-near)}); err != nil {
			return err
		}
		if err := p.addCommands(limited, groups, commands); err != nil {
			return err
		}
	}
	far := upto > p.farAt && now.Sub(p.farTime) >= farEvery
	if far {
		if err := p.addChanges(limited, groups, query.Changes{From: behind(p.farAt), To: behind(upto), SeenTo: now.Add(-near)}); err != nil {
			return err
		}
	}
	if upto > p.at || far {
		for _, g := range groups {
			g.cut()
		}
		if err := p.countUsers(limited, groups); err != nil {
			return err
		}
		p.feed.tell(ctx, groups, max(upto, p.at))
		p.at = max(upto, p.at)
	}
	if far {
		p.farAt, p.farTime = upto, now
	}
	return nil
}

// countUsers fills in the users of the records that are told, of all groups at once.
func (p *poller) countUsers(ctx context.Context, groups []*group) error {
	told := map[errata.Position]errata.Record{} // by their ids: a key may be of another record by now
	for _, g := range groups {
		for _, r := range g.records {
			told[r.ID] = r
		}
	}
	if len(told) == 0 {
		return nil
	}
	list := slices.Collect(maps.Values(told))
	if err := p.feed.cfg.CountUsers(ctx, list); err != nil {
		return err
	}
	for _, r := range list {
		told[r.ID] = r
	}
	for _, g := range groups {
		for key, r := range g.records {
			r.Users = told[r.ID].Users
			g.records[key] = r
		}
	}
	return nil
}

// behind is the first position after a fact.
func behind(fact uint64) errata.Position { return errata.PositionOf(fact+1, 0) }

// addChanges adds the changes that the query finds for each group.
func (p *poller) addChanges(ctx context.Context, groups []*group, c query.Changes) error {
	for _, g := range groups {
		c.Projects = g.among
		list, total, err := p.feed.cfg.Changed(ctx, c, MaxRecords)
		if err != nil {
			return err
		}
		for _, r := range list {
			g.changed(r)
		}
		if listed := uint64(len(list)); total > listed {
			g.more += total - listed
		}
	}
	return nil
}

// addCommands adds what commands changed. A delete leaves no row behind, and a
// status leaves last_seen as it was, so that neither is found by looking at the
// records.
func (p *poller) addCommands(ctx context.Context, groups []*group, commands []Command) error {
	var keys, removed []errata.RecordKey
	for _, c := range commands {
		keys = append(append(keys, c.Touches...), c.Removes...)
		removed = append(removed, c.Removes...)
	}
	for _, g := range groups {
		for _, c := range commands {
			if c.concerns(g.among) {
				g.addUncounted(c.Unnamed)
			}
		}
	}
	if len(keys) == 0 || len(groups) == 0 {
		return nil
	}
	live, err := p.feed.cfg.Live(ctx, keys)
	if err != nil {
		return err
	}
	owners, err := p.owners(ctx, groups, removed)
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, key := range keys {
			if r, there := live[key]; there && g.among.Has(r.Project) {
				g.changed(r) // also one that was removed and seen again since
			}
		}
		for _, key := range removed {
			project, known := owners[key.Signature]
			if _, there := live[key]; !there && (g.among.All() || known && g.among.Has(project)) {
				g.deleted(key)
			}
		}
	}
	return nil
}

// owners are the projects of the signatures, if any group needs to know.
func (p *poller) owners(ctx context.Context, groups []*group, removed []errata.RecordKey) (map[errata.Signature]uint64, error) {
	for _, g := range groups {
		if !g.among.All() && len(removed) > 0 {
			return p.feed.cfg.ProjectsOf(ctx, removed)
		}
	}
	return nil, nil //nolint:nilnil // nobody needs to know
}
