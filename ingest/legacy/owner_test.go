package legacy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// owned is the FileInfo of a file or folder with an owner. Nothing is on disk.
type owned struct {
	mode fs.FileMode
	user uint32
}

func (e owned) Name() string       { return "entry" }
func (e owned) Size() int64        { return 0 }
func (e owned) Mode() fs.FileMode  { return e.mode }
func (e owned) ModTime() time.Time { return time.Time{} }
func (e owned) IsDir() bool        { return e.mode.IsDir() }
func (e owned) Sys() any           { return &syscall.Stat_t{Uid: e.user} }

// TestOwner: a folder that only the service and root can write to may have the
// files of any user, another folder only those of its owner.
func TestOwner(t *testing.T) {
	const root, service, shop, stranger = 0, 990, 33, 1001
	for _, c := range []struct {
		name   string
		folder owned
		mine   uint32 // the user of a file that is imported
		other  uint32 // the user of a second file
		fine   bool   // the second file is imported too
	}{
		{"the service's", owned{0o700, service}, service, stranger, true},
		{"the service's, readable", owned{0o755, service}, root, shop, true},
		{"root's", owned{0o755, root}, service, stranger, true},
		{"the service's, open to a group", owned{0o770, service}, service, stranger, false},
		{"the service's, open to a group, root's file", owned{0o770, service}, service, root, false},
		{"like /tmp", owned{0o777 | fs.ModeSticky, root}, root, stranger, false},
		{"like /tmp, the service's file", owned{0o777 | fs.ModeSticky, root}, root, service, false},
		{"an application's", owned{0o755, shop}, shop, stranger, false},
		{"an application's, the service's file", owned{0o755, shop}, shop, service, false},
		{"an application's, root's file", owned{0o755, shop}, shop, root, false},
	} {
		trust := trusted(c.folder, service)
		if err := trust.allows(owned{0o600, c.mine}); err != nil {
			t.Errorf("%s: a file of user %d: %v", c.name, c.mine, err)
		}
		if err := trust.allows(owned{0o600, c.other}); errors.Is(err, errForeign) == c.fine {
			t.Errorf("%s: a file of user %d: got %v", c.name, c.other, err)
		}
	}
}

// TestForeignFiles: while others can write to the folder, another user's file is
// not opened. When only the service can write to it, the file is imported.
// TestBadFiles checks that skipped files are reported.
func TestForeignFiles(t *testing.T) {
	b := newBench(t)
	path := b.put(t, "system/theirs.log", oneLine)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := openFolder(root, errata.BookSystem)
	if err != nil {
		t.Fatal(err)
	}
	defer f.root.Close()
	mine, _, err := f.open("theirs.log")
	if err != nil {
		t.Fatalf("of the folder's owner: %v", err)
	}
	mine.Close()
	// Only root can change the owner of a file, so the test changes the folder's.
	f.trust.owner++
	if _, _, err := f.open("theirs.log"); !errors.Is(err, errForeign) {
		t.Errorf("of another user: got %v", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := b.run(t); got.Events != 1 || !b.exists("system/done/theirs.log") {
		t.Errorf("closed to others: %+v", got)
	}
}
