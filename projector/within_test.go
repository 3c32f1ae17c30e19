package projector_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/signature"
)

// projectOf is the project of a problem of the history.
func projectOf(n int) uint64 { return uint64(1 + n%3) }

// within draws the projects of a command, and the name that it has for them.
func (h *history) within(all, within string) (name string, projects eventlog.Within) {
	switch h.random.IntN(4) {
	case 0:
		return within, eventlog.Within{Projects: []uint64{2}}
	case 1:
		return within, eventlog.Within{Projects: []uint64{1, 3, 99}}
	default:
		return all, eventlog.Within{}
	}
}

// means says whether a command within the projects is about the record.
func means(within eventlog.Within, r errata.Record) bool {
	return len(within.Projects) == 0 || slices.Contains(within.Projects, r.Project)
}

// TestCommandsWithinProjects: a command within projects leaves the records of others as
// they are and does not count them: they are as if they did not exist.
func TestCommandsWithinProjects(t *testing.T) {
	l := newLedger(t)
	h := newHistory(t, l)
	p, _ := l.start()
	of := func(project uint64, problem string) errata.Event {
		e := event(problem, problem)
		e.Project = project
		e.Signature = signature.Sign(signature.Identity{Project: project, Template: problem})
		return e
	}
	mine, foreign, other := of(1, "mine"), of(2, "foreign"), of(1, "other")
	l.append(mine, foreign, other)
	l.barrier()
	before := h.read(l.Database).Records
	theirs := modelKey(foreign.Book, foreign.Signature)
	both := []errata.Signature{mine.Signature, foreign.Signature}
	unknown := []errata.Signature{signature.Sign(signature.Identity{Project: 1, Template: "nobody has seen this"})}
	filter := json.RawMessage(`{"types":"system,database"}`)
	one := []uint64{1}
	for _, step := range []struct {
		name string
		do   func() (errata.Changed, error)
		want uint64
	}{
		{"move", func() (errata.Changed, error) { return l.commander.Move(t.Context(), one, both, errata.StatusMuted) }, 1},
		{"move a foreign one", func() (errata.Changed, error) {
			return l.commander.Move(t.Context(), one, both[1:], errata.StatusMuted)
		}, 0},
		{"move an unknown one", func() (errata.Changed, error) {
			return l.commander.Move(t.Context(), one, unknown, errata.StatusMuted)
		}, 0},
		{"move what matches", func() (errata.Changed, error) {
			return l.commander.MoveMatching(t.Context(), one, filter, errata.StatusResolved)
		}, 2},
		{"delete", func() (errata.Changed, error) { return l.commander.Delete(t.Context(), one, both) }, 1},
		{"delete what matches", func() (errata.Changed, error) {
			return l.commander.DeleteMatching(t.Context(), []uint64{3}, filter)
		}, 0},
		{"clean up for no project", func() (errata.Changed, error) { return l.commander.Cleanup(t.Context(), []uint64{}, far()) }, 0},
		{"clean up", func() (errata.Changed, error) { return l.commander.Cleanup(t.Context(), one, far()) }, 1},
	} {
		changed, err := step.do()
		if err != nil || changed.Total() != step.want {
			t.Errorf("%s: %+v, %v, want %d", step.name, changed, err, step.want)
		}
		if diff := cmp.Diff(before[theirs], h.read(l.Database).Records[theirs], stateOptions); diff != "" {
			t.Errorf("%s changed the record of another project:\n%s", step.name, diff)
		}
	}
	if left := h.read(l.Database); len(left.Records) != 1 || left.Payload[theirs] == "" {
		t.Errorf("left: %+v", left)
	}
	if changed, err := l.commander.Delete(t.Context(), nil, both); err != nil || changed.Total() != 1 {
		t.Errorf("delete in all projects: %+v, %v", changed, err)
	}
	comparison, err := projector.Rebuild(t.Context(), p, l.rebuild())
	if err != nil || !comparison.Equal() {
		t.Errorf("rebuilt: %+v, %v", comparison, err)
	}
}

// TestCommandsThatContradictTheirName: a command whose name and projects do not fit
// changes nothing. So does one whose name the version does not know, which is what an
// older version makes of a command within projects.
func TestCommandsThatContradictTheirName(t *testing.T) {
	l := newLedger(t)
	l.start()
	ev := event("a problem", "one")
	l.append(ev)
	texts := []string{ev.Signature.String()}
	within := eventlog.Within{Projects: []uint64{1}}
	for name, body := range map[string]any{
		eventlog.CommandDelete:           eventlog.Signatures{Signatures: texts, Within: within},
		eventlog.CommandDeleteIn:         eventlog.Signatures{Signatures: texts},
		eventlog.CommandStatus:           eventlog.StatusMove{Signatures: texts, Status: errata.StatusMuted, Within: within},
		eventlog.CommandStatusIn:         eventlog.StatusMove{Signatures: texts, Status: errata.StatusMuted},
		eventlog.CommandCleanup:          eventlog.Cleanup{Before: 1 << 42, Within: within},
		eventlog.CommandCleanupIn:        eventlog.Cleanup{Before: 1 << 42},
		eventlog.CommandDeleteIn + "-in": eventlog.Signatures{Signatures: texts, Within: within},
	} {
		answer, err := l.commander.Do(t.Context(), name, body)
		var refused eventlog.Refused
		if err != nil || json.Unmarshal(answer, &refused) != nil || refused.Error == "" {
			t.Errorf("%s: %s, %v", name, answer, err)
		}
	}
	if live := l.live(); live != 1 {
		t.Errorf("%d records, want 1", live)
	}
}

// far is behind all events.
func far() time.Time { return time.Now().Add(time.Hour) }
