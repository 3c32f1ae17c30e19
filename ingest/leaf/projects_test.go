package leaf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest/leaf"
	"github.com/errata-log/errata/projects"
)

// TestCopiesOfProjects: each copy is read once, the newest one holds, and one that cannot
// be read is as none.
func TestCopiesOfProjects(t *testing.T) {
	copies := map[uint64][]byte{}
	p := leaf.NewProjects(func(project uint64) []byte { return copies[project] })
	rules := []projects.Rule{{Set: "crawlers", Action: "drop"}}
	for _, c := range []struct {
		text string
		want projects.AtDoor
	}{
		{"", projects.AtDoor{}},
		{`{"archived":true,"events_per_minute":null}`, projects.AtDoor{Archived: true}},
		{`{"events_per_minute":0,"noise":[{"set":"crawlers","action":"drop"}]}`, projects.AtDoor{EventsPerMinute: projects.Limit{Set: true}, Noise: rules}},
		{`{"events_per_minute":null,"retention_days":90}`, projects.AtDoor{RetentionDays: 90}},
		{`{"archived":true,"noise":7}`, projects.AtDoor{}},
		{`["archived"]`, projects.AtDoor{}},
	} {
		copies[7] = []byte(c.text)
		first := p.AtDoor(7)
		if diff := cmp.Diff(c.want, first); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		if again := p.AtDoor(7); len(first.Noise) > 0 && &first.Noise[0] != &again.Noise[0] {
			t.Errorf("%s: it was read twice", c.text)
		}
		if diff := cmp.Diff(projects.AtDoor{}, p.AtDoor(8)); diff != "" {
			t.Errorf("another project:\n%s", diff)
		}
	}
}
