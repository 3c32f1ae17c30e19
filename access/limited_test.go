package access_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/access"
)

var everything = []access.Scope{access.Everything}

// numbers are 1 to n.
func numbers(n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(i + 1)
	}
	return list
}

// TestLimitedKey: the projects of a key are in order and each once, on every node and
// in the audit trail, also when the key is revoked.
func TestLimitedKey(t *testing.T) {
	store, bucket := openStore(t, access.Config{})
	made, text := create(t, store, access.NewKey{Name: "team", Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{7, 3, 7}})
	want := []uint64{3, 7}
	if diff := cmp.Diff(want, made.Projects); diff != "" {
		t.Error(diff)
	}
	other, _ := openStore(t, access.Config{Bucket: bucket})
	found, err := other.Authenticate(text)
	if err != nil || !cmp.Equal(found.Projects, want) || !found.Limited() {
		t.Errorf("on another node: %+v, %v", found, err)
	}
	if err := store.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	stored, err := bucket.Get(t.Context(), "key."+made.ID)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := access.ParseTrace("key."+made.ID, stored.Value())
	if err != nil || !cmp.Equal(trace.Projects, want) || trace.Revoked.IsZero() {
		t.Errorf("in the audit trail: %+v, %v", trace, err)
	}
}

// TestLimitedKeyOnOldBuilds: a build that does not know the limit reads version 1 only,
// so a limited key has another one. A record whose version says something else than
// its projects opens nothing.
func TestLimitedKeyOnOldBuilds(t *testing.T) {
	store, bucket := openStore(t, access.Config{})
	for name, n := range map[string]access.NewKey{
		"limited":     {Name: "x", Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{1}},
		"not limited": {Name: "x", Kind: access.KindAdmin, Scopes: everything},
	} {
		key, _ := create(t, store, n)
		stored, err := bucket.Get(t.Context(), "key."+key.ID)
		if err != nil {
			t.Fatal(err)
		}
		var version struct{ V int }
		if err := json.Unmarshal(stored.Value(), &version); err != nil || (version.V == 1) == key.Limited() {
			t.Errorf("%s: record version %d, %v", name, version.V, err)
		}
		changed := strings.NewReplacer(`"v":1`, `"v":2`, `"v":2`, `"v":1`).Replace(string(stored.Value()))
		if _, err := access.ParseTrace("key."+key.ID, []byte(changed)); err == nil {
			t.Errorf("%s: the other version is read: %s", name, changed)
		}
	}
}

// TestGoverns: which keys a key sees, makes and ends.
func TestGoverns(t *testing.T) {
	ingest := func(project uint64) access.Key { return access.Key{ID: "i", Kind: access.KindIngest, Project: project} }
	admin := func(projects ...uint64) access.Key {
		return access.Key{ID: "a", Kind: access.KindAdmin, Projects: projects}
	}
	ops := access.Key{ID: "o", Kind: access.KindOps}
	limited := access.Key{ID: "l", Kind: access.KindAdmin, Projects: []uint64{2, 4}}
	all := access.Key{ID: "w", Kind: access.KindAdmin}
	for _, c := range []struct {
		name   string
		holder access.Key
		other  access.Key
		want   bool
	}{
		{"all, of any project", all, ingest(9), true},
		{"all, not limited", all, admin(), true},
		{"limited, its project", limited, ingest(4), true},
		{"limited, another project", limited, ingest(3), false},
		{"limited, part of its projects", limited, admin(2), true},
		{"limited, one project more", limited, admin(2, 3), false},
		{"limited, not limited", limited, admin(), false},
		{"limited, monitoring", limited, ops, false},
		{"limited, itself", limited, limited, true},
	} {
		if got := c.holder.Governs(c.other); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if limited.Sees(0) || !all.Sees(0) {
		t.Error("what has no known project is seen by keys that are not limited, and only by them")
	}
}
