package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestMergedPartsAreSynced: each part that a merge or a mutation has made is synced once, and
// again after an error. A table that is gone is forgotten.
func TestMergedPartsAreSynced(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "store", "3e4", "3e4d-uuid")
	var synced []string
	m := newMergedParts(dir)
	var refuse error
	m.sync = func(folder string) error {
		if refuse == nil {
			synced = append(synced, filepath.Base(folder))
		}
		return errors.Join(refuse, syncTree(folder))
	}
	look := func(want ...string) {
		t.Helper()
		synced = nil
		if err := m.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(synced, want) {
			t.Errorf("synced %v, want %v", synced, want)
		}
	}
	come := func(parts ...string) {
		t.Helper()
		for _, name := range parts {
			projection := filepath.Join(table, name, "by_time.proj")
			if err := os.MkdirAll(projection, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(projection, "data.bin"), []byte("rows"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	look() // nothing is there yet
	come("all_1_1_0", "all_2_9_1", "all_3_3_0_10", "tmp_merge_all_1_9_2", "detached")
	look("all_2_9_1", "all_3_3_0_10")
	look()
	come("all_10_10_0", "all_1_9_12")
	look("all_1_9_12")
	if err := os.RemoveAll(filepath.Join(table, "all_2_9_1")); err != nil {
		t.Fatal(err)
	}
	look()
	come("all_1_10_13")
	refuse = errors.New("no disk")
	if err := m.look(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("got %v, want %v", err, refuse)
	}
	refuse = nil
	look("all_1_10_13")
	if err := os.RemoveAll(table); err != nil {
		t.Fatal(err)
	}
	look()
	if len(m.synced) != 0 || len(m.folders) != 2 {
		t.Errorf("remembered are the parts %v and the folders %v, want the store and its only folder", m.synced, m.folders)
	}
}

// TestNewTableInAnOldFolder: a folder that has not changed for long is not read again, until it
// changes.
func TestNewTableInAnOldFolder(t *testing.T) {
	dir := t.TempDir()
	group := filepath.Join(dir, "store", "3e4")
	m := newMergedParts(dir)
	var synced []string
	m.sync = func(folder string) error { synced = append(synced, filepath.Base(folder)); return nil }
	come := func(table, part string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(group, table, part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	age := func(folder string) {
		t.Helper()
		if err := os.Chtimes(folder, long, long); err != nil {
			t.Fatal(err)
		}
	}
	look := func() {
		t.Helper()
		if err := m.look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	come("one", "all_1_2_1")
	age(filepath.Join(dir, "store"))
	age(group)
	look()
	come("two", "all_1_3_1")
	age(group) // as if nothing had come
	look()
	if want := []string{"all_1_2_1"}; !slices.Equal(synced, want) {
		t.Fatalf("synced %v, want %v: the folder is read again", synced, want)
	}
	come("three", "all_1_4_1")
	look()
	slices.Sort(synced)
	if want := []string{"all_1_2_1", "all_1_3_1", "all_1_4_1"}; !slices.Equal(synced, want) {
		t.Errorf("synced %v, want %v", synced, want)
	}
}

// TestSyncOfWhatIsGone: a merge may take a part away meanwhile.
func TestSyncOfWhatIsGone(t *testing.T) {
	if err := syncTree(filepath.Join(t.TempDir(), "all_1_2_1")); err != nil {
		t.Error(err)
	}
}
