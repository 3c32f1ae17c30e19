package legacy

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func packed(t testing.TB, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const oneLine = "[21-Nov-2025 03:58:25 UTC] PHP Warning:  a in /x.php on line 1\n"

// TestBadFiles: files that an attacker, or an accident, puts into the folder. None
// ends the import, and each is reported.
//
// long: a table with a row for each kind of file.
func TestBadFiles(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(t.TempDir(), "outside.log")
	if err := os.WriteFile(outside, []byte(oneLine), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(b.dir, "system", name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(outside, at("link.log")))
	must(os.Symlink("good.log", at("inside.log")))
	must(os.Link(outside, at("hard.log")))
	must(syscall.Mkfifo(at("fifo.log"), 0o600))
	must(os.Mkdir(at("folder.log"), 0o700))
	b.put(t, "system/taken.log", oneLine+"# its name is taken\n")
	must(os.Mkdir(at("taken.log.importing"), 0o700))
	b.put(t, "system/bomb.gz", packed(t, make([]byte, 30<<20)))
	b.put(t, "system/good.log", oneLine)
	b.put(t, "system/empty.log", "")
	b.put(t, "system/crlf.log", strings.ReplaceAll(oneLine+oneLine, "\n", "\r\n"))
	b.put(t, "system/packed.gz", packed(t, []byte(oneLine+oneLine+oneLine)))
	whole := packed(t, phpLines(5000))
	b.put(t, "system/cut.gz", whole[:len(whole)/2])
	b.put(t, "system/no.gz", "\x1f\x8bnothing of the kind")
	b.put(t, "system/binary.bin", "\x00\x01\x02\n\xff\xfe\n")
	b.put(t, "system/half.log", oneLine[:len(oneLine)-1]) // an old file: its last line counts
	young := b.put(t, "system/young.log", "[21-Nov-2025 03:58:25 UTC] half a li")
	must(os.Chtimes(young, time.Now(), time.Now()))

	got := b.run(t)
	skipped := map[string]string{}
	for _, n := range got.Skipped {
		skipped[n.File] = n.Reason
	}
	for name, want := range map[string]string{
		"system/link.log": errLink.Error(), "system/inside.log": errLink.Error(), "system/hard.log": errHardLinks.Error(),
		"system/fifo.log": errNotFile.Error(), "system/folder.log": errNotFile.Error(), "system/bomb.gz": errBomb.Error(),
		"system/young.log": errWaiting.Error(),
	} {
		if skipped[name] != want {
			t.Errorf("%s: said %q, want %q", name, skipped[name], want)
		}
		delete(skipped, name)
	}
	if reason := skipped["system/taken.log"]; reason == "" || len(skipped) != 1 {
		t.Errorf("also skipped: %v", skipped)
	}
	events, ids := b.logged(t)
	if int64(len(events)) != got.Events || len(ids) != len(events) {
		t.Errorf("%d events, %d ids, answered %d", len(events), len(ids), got.Events)
	}
	// One in good, two in crlf, three in packed, one in half, and those in the
	// readable part of cut.
	if got.Events < 7+1000 || got.Events >= 7+5000 {
		t.Errorf("imported %d events", got.Events)
	}
	warned := map[string]bool{}
	for _, n := range got.Warnings {
		warned[n.File] = true
	}
	for _, name := range []string{"system/cut.gz", "system/no.gz", "system/binary.bin"} {
		if !warned[name] {
			t.Errorf("no warning about %s", name)
		}
	}
	for _, name := range []string{"good.log", "empty.log", "crlf.log", "packed.gz", "cut.gz", "no.gz", "binary.bin", "half.log"} {
		if !b.exists("system/done/" + name) {
			t.Errorf("%s was not moved", name)
		}
	}
	// The file that was too new is imported later.
	must(os.Chtimes(young, old(), old()))
	if got := b.run(t); got.Events != 1 || !b.exists("system/done/young.log") {
		t.Errorf("after a rest: %+v", got)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != oneLine {
		t.Errorf("outside: %q, %v", text, err)
	}
}

// TestFolderInItsPlace: a link in the place of a book's folder is not followed. A
// missing folder is no error.
func TestFolderInItsPlace(t *testing.T) {
	b := newBench(t)
	for _, book := range []string{"system", "database"} {
		if err := os.Remove(filepath.Join(b.dir, book)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(b.dir, "system")); err != nil {
		t.Fatal(err)
	}
	if got := b.run(t); got.Files != 0 || len(got.Skipped) != 1 || got.Skipped[0].Reason != errNoFolder.Error() {
		t.Errorf("answered %+v", got)
	}
	b.dir = filepath.Join(b.dir, "nowhere")
	if got := b.run(t); got.Files != 0 || len(got.Skipped) != 0 {
		t.Errorf("without a folder: %+v", got)
	}
}

// TestYoungPackedFile: an incomplete packed file waits; a complete one does not.
func TestYoungPackedFile(t *testing.T) {
	b := newBench(t)
	whole := packed(t, phpLines(1000))
	for name, text := range map[string]string{"system/cut.gz": whole[:len(whole)-9], "system/whole.gz": whole} {
		if err := os.Chtimes(b.put(t, name, text), time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	got := b.run(t)
	if got.Files != 1 || got.Events != 1000 || len(got.Skipped) != 1 || got.Skipped[0].File != "system/cut.gz" {
		t.Errorf("answered %+v", got)
	}
}
