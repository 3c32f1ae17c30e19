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

// owned is the entry of a file or folder with an owner, without one on disk.
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

// TestOwner: a folder that only the service and root can write to may have
// anybody's files, any other only its owner's.
func TestOwner(t *testing.T) {
	const root, service, shop, stranger = 0, 990, 33, 1001
	for _, c := range []struct {
		name   string
		folder owned
		mine   uint32 // a file that is imported
		other  uint32 // a file beside it
		fine   bool   // that is imported too
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

// TestForeignFiles: another user's file is not opened while others can write to
// the folder, and is imported once only the service can. What is not opened is
// left alone and reported: TestBadFiles.
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
	// Only root can give a file away, so the folder is given away instead.
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
