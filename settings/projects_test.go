package settings_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/test/testenv"
)

// put writes a project with the number and the name.
func put(t *testing.T, s *settings.Store, number uint64, name string) {
	t.Helper()
	_, err := s.UpdateProject(t.Context(), func(projects.Set) (projects.Project, error) {
		return projects.Project{ID: number, Slug: fmt.Sprint("s-", number), Name: name, Noise: []projects.Rule{}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// names are the names of the projects that the log has now.
func names(t *testing.T, s *settings.Store) (all []string) {
	t.Helper()
	set, err := s.ReadProjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.All() {
		all = append(all, fmt.Sprint(p.ID, " ", p.Name))
	}
	return all
}

// TestFactOfAProject pins the facts that the audit trail and other versions read.
func TestFactOfAProject(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	put(t, s, 7, "shop")
	put(t, s, 7, "shop") // the same: nothing is written
	if _, err := s.UpdateProject(t.Context(), func(all projects.Set) (projects.Project, error) {
		p, _ := all.Get(7)
		p.Archived, p.Limits.EventsPerMinute = true, projects.Limit{Set: true, Max: 100}
		p.Noise = []projects.Rule{{Field: "class", Match: "Bot*", Action: "drop"}}
		return p, nil
	}); err != nil {
		t.Fatal(err)
	}
	const context = `"context":{"source_lines":true,"breadcrumbs":true,"extra":true,"vars":"shapes","users":true},`
	const head = `{"id":7,"slug":"s-7","name":"shop","platform":"","created_at":null,"archived":`
	first := head + `false,"retention_days":0,"occurrence_days":0,"limits":{"events_per_minute":null,"new_records_per_hour":null},` + context + `"noise":[]}`
	second := head + `true,"retention_days":0,"occurrence_days":0,"limits":{"events_per_minute":100,"new_records_per_hour":null},` + context +
		`"noise":[{"field":"class","match":"Bot*","action":"drop"}]}`
	var got []string
	for _, f := range facts(t, env) {
		got = append(got, f.Name+" "+string(f.Data))
	}
	if diff := cmp.Diff([]string{
		`project.7 {"v":1,"before":null,"after":` + first + `}`,
		`project.7 {"v":1,"before":` + first + `,"after":` + second + `}`,
	}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestEveryNodeReadsProjects: those that follow, and those that start later.
func TestEveryNodeReadsProjects(t *testing.T) {
	env := testenv.NewBroker(t)
	a, b := open(t, env), open(t, env)
	var want []string
	for i := range uint64(20) {
		put(t, []*settings.Store{a, b}[i%2], i+1, "first")
		put(t, []*settings.Store{b, a}[i%2], i+1, "second")
		want = append(want, fmt.Sprint(i+1, " second"))
		if diff := cmp.Diff(want, names(t, []*settings.Store{a, b}[i%2])); diff != "" {
			t.Fatalf("after %d (-want +got):\n%s", i+1, diff)
		}
	}
	late := open(t, env)
	if got := len(late.Projects().All()); got != 20 {
		t.Errorf("a node that starts later has %d projects in its snapshot", got)
	}
	if diff := cmp.Diff(want, names(t, late)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestProjectsOutliveAPurge: what stands only in front of the purge is set again.
func TestProjectsOutliveAPurge(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	put(t, s, 1, "one")
	put(t, s, 2, "two")
	put(t, s, 1, "uno")
	if err := s.Republish(t.Context()); err != nil {
		t.Fatal(err)
	}
	stream, err := env.JetStream.Stream(t.Context(), logOf(env).Stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSequence(4)); err != nil {
		t.Fatal(err)
	}
	if state, err := eventlog.Inspect(t.Context(), logOf(env)); err != nil || state.Facts != 2 {
		t.Errorf("%d facts are left, want 2 (%v)", state.Facts, err)
	}
	want := []string{"1 uno", "2 two"}
	for name, node := range map[string]*settings.Store{"the same node": s, "a new one": open(t, env)} {
		if diff := cmp.Diff(want, names(t, node)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	put(t, s, 2, "due") // behind what was set again
	if diff := cmp.Diff([]string{"1 uno", "2 due"}, names(t, open(t, env))); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
}

// TestForeignFactsOfProjects: what is no fact of the project is left out, and the
// project stays as it was and can be changed.
func TestForeignFactsOfProjects(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	put(t, s, 7, "shop")
	for _, text := range append([]string{`{"v":1,"before":null,"after":null}`, `{"v":1,"before":null,"after":{"id":8,"slug":"x","name":"of another"}}`}, foreign...) {
		if _, err := env.JetStream.Publish(t.Context(), logOf(env).Prefix+"set.project.7", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"set.project.0", "set.project.x", "set.project.07", "set.project.7.x"} {
		if _, err := env.JetStream.Publish(t.Context(), logOf(env).Prefix+name, []byte(`{"v":1,"after":{"id":7,"name":"no"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	for what, node := range map[string]*settings.Store{"the same node": s, "a new one": open(t, env)} {
		if diff := cmp.Diff([]string{"7 shop"}, names(t, node)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	put(t, s, 7, "Shop")
	if diff := cmp.Diff([]string{"7 Shop"}, names(t, open(t, env))); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
}

// A change that is refused writes nothing and comes back as it is.
func TestRefusedChangeOfAProject(t *testing.T) {
	env := testenv.NewBroker(t)
	s := open(t, env)
	refusal := errata.Errorf(errata.KindInvalidSlug, "no")
	_, err := s.UpdateProject(t.Context(), func(projects.Set) (projects.Project, error) { return projects.Project{ID: 1}, refusal })
	if !errors.Is(err, refusal) || len(facts(t, env)) != 0 {
		t.Errorf("%v, %d facts", err, len(facts(t, env)))
	}
}
