//go:build linux

package engine_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWritesThatFail: an insert whose files cannot be written is refused, and leaves nothing.
// The library alone takes it, and its rows cannot be read. A limit on the size of files stands
// for a full disk.
func TestWritesThatFail(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	exec(t, e, "CREATE TABLE t (v String) ENGINE = MergeTree ORDER BY tuple() SETTINGS fsync_after_insert = 1")
	const insert, count = "INSERT INTO t SELECT randomString(1000) FROM numbers(1000)", "SELECT toString((count(), sum(length(v)))) FROM t"
	pid, ok := e.EmbeddedClickHouse()
	if !ok {
		t.Fatal("no engine")
	}
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: unix.RLIM_INFINITY}, &before); err != nil {
		t.Fatal(err)
	}
	err := e.ClickHouse().Exec(t.Context(), insert)
	if err == nil || !strings.Contains(err.Error(), "Cannot fsync") {
		t.Errorf("an insert that cannot be written: %v", err)
	}
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &before, nil); err != nil {
		t.Fatal(err)
	}
	if got := scanText(t, e, count); got != "(0,0)" {
		t.Errorf("it left %s", got)
	}
	exec(t, e, insert)
	if got := scanText(t, e, count); got != "(1000,1000000)" {
		t.Errorf("the insert after it: %s", got)
	}
}
