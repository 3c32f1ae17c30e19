package selfcheck_test

import (
	"errors"
	"testing"
)

// lookFirst looks, and checks that merges are not held any more.
func (h *house) lookFirst() {
	h.t.Helper()
	if err := h.checker.Look(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if h.Optimize("records") {
		h.t.Error("merges are held after the first look")
	}
}

// A start that is tried again holds the merges until the first look has ended, and not after it,
// when nobody would start them again.
func TestStartIsTriedAgain(t *testing.T) {
	h := newHouse(t)
	h.send("broken")
	for range 2 {
		if err := h.first.Hold(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !h.Optimize("records") {
			t.Error("the records are merged before the first look")
		}
	}
	h.lookFirst()
	if err := h.first.Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.Optimize("records") {
		t.Error("a start that is tried again behind the first look has stopped the merges")
	}
}

// ClickHouse is restarted before the first look, which starts its merges. The start that is tried
// again holds them again.
func TestClickHouseIsRestartedBeforeTheFirstLook(t *testing.T) {
	h := newHouse(t)
	h.exec("ALTER TABLE records MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
	h.send("broken")
	h.stop() // its session would begin again
	h.KillClickHouse()
	err := errors.New("not tried")
	for try := 0; err != nil; try++ { // the first use of a connection from before the kill fails
		if err = h.first.Hold(t.Context()); try == 5 {
			t.Fatal(err)
		}
	}
	if !h.Optimize("records") {
		t.Error("the records are merged before the first look")
	}
	h.lookFirst()
}

// A table is written again to mend it, which needs merges: the first look holds them no longer then.
func TestMendStartsMerges(t *testing.T) {
	h := newHouse(t)
	h.exec("ALTER TABLE records MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
	h.send("broken")
	flipped(t, h.file(h.filled()[0], "skp_idx_ix_user.idx*"))
	h.exec("SYSTEM DROP INDEX UNCOMPRESSED CACHE")
	h.lookFirst()
	if h.checker.Last().Mended.At.IsZero() {
		t.Error("nothing was mended")
	}
	h.whole()
}
