package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/signin"
)

// Snapshot is the value of every setting at one moment. It never changes.
type Snapshot struct {
	Logging errata.Logging
	// Limits are those of projects.
	Limits Limits
	// Projects are those that somebody made or changed.
	Projects projects.Set
	// AlertRules and AlertChannels say who is told of what.
	AlertRules    alerts.Set
	AlertChannels alerts.Channels
	// Security is what is asked at sign-in.
	Security signin.Settings

	// sequences are those of the facts on the log, by name. A setting that was
	// never set has none.
	sequences map[string]uint64
}

// setting is one setting with values of type T.
type setting[T any] struct {
	name string
	// standard is in force until the setting is set.
	standard T
	// in is where a snapshot has the value.
	in    func(*Snapshot) *T
	equal func(a, b T) bool
	// valid says whether a value may stand in a fact of the setting, nil: any value.
	valid func(T) bool
}

// anySetting is a setting with values of any type.
type anySetting interface {
	title() string
	// load puts the value of a fact into the snapshot.
	load(into *Snapshot, data []byte) error
	// foreign returns an error for data that is no fact of the setting in any
	// version.
	foreign(data []byte) error
}

// known are the settings with a name of their own. Those of projects have their number
// in the name.
var known = []interface {
	anySetting
	// reset puts the standard value into the snapshot.
	reset(*Snapshot)
}{logging, limits, alertRules, alertChannels, twoFactor, location, addressBook, localization}

// named finds the setting with the name.
func named(name string) (of anySetting, found bool) {
	for _, of := range known {
		if of.title() == name {
			return of, true
		}
	}
	return projectNamed(name)
}

func (of setting[T]) title() string { return of.name }

func (of setting[T]) reset(s *Snapshot) { *of.in(s) = of.standard }

func (of setting[T]) load(into *Snapshot, data []byte) error {
	value, err := of.decode(data)
	if err == nil {
		*of.in(into) = value
	}
	return err
}

func (of setting[T]) foreign(data []byte) error {
	if _, err := of.decode(data); errors.Is(err, errForeign) {
		return err
	}
	return nil
}

// errForeign says that a message under the name of a setting is no fact of it.
// It is ignored, and the value before it stays in force.
var errForeign = errors.New("this is no fact of a setting")

// factVersion is the version of the form of facts. A new field needs no new
// version: where an old fact lacks it, it has its standard value.
const factVersion = 1

// fact is what stands on the log.
type fact[T any] struct {
	Version int `json:"v"`
	// Before is what After replaced, for the audit trail.
	Before T `json:"before"`
	After  T `json:"after"`
}

func (of setting[T]) encode(before, after T) ([]byte, error) {
	data, err := json.Marshal(fact[T]{factVersion, before, after})
	if err != nil {
		return nil, fmt.Errorf("encode setting %s: %w", of.name, err)
	}
	return data, nil
}

func (of setting[T]) decode(data []byte) (value T, err error) {
	f := fact[T]{After: of.standard}
	if err := json.Unmarshal(data, &f); err != nil && f.Version <= factVersion {
		return value, fmt.Errorf("decode setting %s: %w: %w", of.name, errForeign, err)
	}
	if f.Version < factVersion {
		return value, fmt.Errorf("decode setting %s: %w", of.name, errForeign)
	}
	if f.Version > factVersion {
		return value, fmt.Errorf("setting %s was written in form %d and this version of Errata knows %d; run the newest version on all nodes",
			of.name, f.Version, factVersion)
	}
	if of.valid != nil && !of.valid(f.After) {
		return value, fmt.Errorf("decode setting %s: %w", of.name, errForeign)
	}
	return f.After, nil
}

// newest finds the newest fact of the setting, and the sequence behind which
// the next one is appended. The two differ where a foreign message follows the
// fact. found is false when there is no fact.
func (s *Store) newest(ctx context.Context, name string, foreign func(data []byte) error) (f eventlog.Setting, last uint64, found bool, err error) {
	f, found, err = eventlog.LastSetting(ctx, s.log, name)
	if err != nil || !found {
		return f, 0, false, err
	}
	last = f.Sequence
	if err := foreign(f.Data); err != nil {
		s.skipped(last, err)
		f, found, err = eventlog.SettingBefore(ctx, s.log, name, last, func(data []byte) bool { return foreign(data) == nil })
		return f, last, found, err
	}
	return f, last, true, nil
}

// read asks the log's leader for the newest value.
func read[T any](ctx context.Context, s *Store, of setting[T]) (T, error) {
	value, _, err := readAt(ctx, s, of)
	return value, err
}

// readAt is read with the sequence behind which the next value is appended, 0
// when it was never set.
func readAt[T any](ctx context.Context, s *Store, of setting[T]) (value T, sequence uint64, err error) {
	newest, last, found, err := s.newest(ctx, of.name, of.foreign)
	if err != nil {
		return value, 0, err
	}
	if !found {
		return of.standard, last, nil
	}
	if value, err = of.decode(newest.Data); err != nil {
		return value, 0, fmt.Errorf("read the fact at %d: %w", newest.Sequence, err)
	}
	s.apply(newest)
	return value, last, nil
}

// update writes what change makes of the newest value, unless that is the same.
func update[T any](ctx context.Context, s *Store, of setting[T], change func(T) (T, error)) (value T, err error) {
	err = s.amend(ctx, eventlog.AppendSetting, func() (f eventlog.Setting, behind uint64, err error) {
		before, behind, err := readAt(ctx, s, of)
		if err != nil {
			return f, 0, err
		}
		if value, err = change(before); err != nil || of.equal(before, value) {
			return f, 0, err
		}
		f.Name = of.name
		f.Data, err = of.encode(before, value)
		return f, behind, err
	})
	return value, err
}

// appends is [eventlog.AppendSetting], or that function for a family of settings.
type appends func(ctx context.Context, log eventlog.Log, name string, data []byte, behind uint64) (sequence uint64, err error)

// amend appends the fact that next makes of those in force, and puts it in force; nothing
// when the fact has no data. next is called again when another change came behind the
// sequence first.
func (s *Store) amend(ctx context.Context, to appends, next func() (f eventlog.Setting, behind uint64, err error)) error {
	for {
		f, behind, err := next()
		if err != nil || f.Data == nil {
			return err
		}
		f.Sequence, err = to(ctx, s.log, f.Name, f.Data, behind)
		if errors.Is(err, eventlog.ErrSettingMoved) {
			continue
		}
		if err == nil {
			s.apply(f)
		}
		return err
	}
}

// apply puts the fact in force unless a newer one is. It may be called by many
// goroutines at once.
func (s *Store) apply(f eventlog.Setting) {
	s.applying.Lock()
	defer s.applying.Unlock()
	old := s.current.Load()
	if f.Sequence <= old.sequences[f.Name] {
		return
	}
	of, found := named(f.Name)
	if !found {
		return // of another version of Errata
	}
	next := *old
	next.sequences = maps.Clone(old.sequences)
	next.sequences[f.Name] = f.Sequence
	if err := of.load(&next, f.Data); errors.Is(err, errForeign) {
		s.skipped(f.Sequence, err)
	} else if err != nil {
		s.logger.Error("a setting cannot be read; the value before stays in force", "sequence", f.Sequence, "error", err)
	}
	s.current.Store(&next)
}
