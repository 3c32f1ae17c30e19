package legacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// exists says whether the folder has the file.
func (b *bench) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(name)))
	return err == nil
}

// Files that lie beside the folders of the books are not imported, and this is told.
func TestFilesBesideTheFolders(t *testing.T) {
	b := newBench(t)
	b.put(t, "laravel.log", "[2026-11-21T03:58:25+00:00] app.ERROR: boom [] []\n")
	b.put(t, ".hidden", "not to be touched")
	got := b.run(t)
	if got.Files != 0 || len(got.Skipped) != 1 || got.Skipped[0].File != "laravel.log" || !strings.Contains(got.Skipped[0].Reason, "move it into system") {
		t.Errorf("%+v", got)
	}
}

func TestImport(t *testing.T) {
	b := newBench(t)
	b.put(t, "system/php.log", string(phpLines(2500)))
	b.put(t, "database/lines.jsonl", `{"id":"a-1","time":"2020-11-21T03:58:25.123Z","message":"order failed","type":"system"}
stray
{"level":"warn","msg":"slow","ts":1600000000}
`)
	b.put(t, "system/.hidden", "not to be touched")
	got := b.run(t)
	if got.Files != 2 || got.Events != 2502 || got.Lines != 2503 || got.Unreadable != 1 || len(got.Skipped) != 0 || len(got.Warnings) != 1 {
		t.Errorf("imported %+v", got)
	}
	if want := "database/lines.jsonl"; got.Warnings[0].File != want || !strings.HasSuffix(got.Warnings[0].Reason, "the first at line 2") {
		t.Errorf("warned about %+v", got.Warnings)
	}
	events, ids := b.logged(t)
	books := map[errata.Book]int{}
	for _, e := range events {
		books[e.Book]++
	}
	if len(ids) != 2502 || books[errata.BookSystem] != 2500 || books[errata.BookDatabase] != 2 {
		t.Errorf("%d ids on the log, in books %v", len(ids), books)
	}
	if ids[errata.NewEventID(1, "a-1")] != 1 {
		t.Error("an event of ours did not keep its id")
	}
	for _, e := range events {
		if e.Time.Year() > 2025 {
			t.Fatalf("an old event happened at %v", e.Time)
		}
	}
	if !b.exists("system/done/php.log") || !b.exists("database/done/lines.jsonl") || b.exists("system/php.log.importing") || !b.exists("system/.hidden") {
		t.Error("the files are not where they belong")
	}
	if again := b.run(t); again.Events != 0 || again.Files != 0 || len(again.Skipped) != 0 {
		t.Errorf("a second call imported %+v", again)
	}
	// The same bytes under another name are recognised, also with a name that
	// exists in done.
	b.put(t, "system/php.log", string(phpLines(2500)))
	again := b.run(t)
	if again.Events != 0 || len(again.Skipped) != 1 || !strings.Contains(again.Skipped[0].Reason, "system/php.log") || !b.exists("system/done/php.log.1") {
		t.Errorf("the same file again: %+v", again)
	}
}

// TestBreaksOffAnywhere interrupts the import of a file many times, at every kind
// of moment and while it waits for the log. In the end every line is on the log
// once.
// The files of an archived project stay where they are.
func TestArchivedProjectImportsNothing(t *testing.T) {
	b := newBench(t)
	b.put(t, "system/a.log", `{"message":"old"}`+"\n")
	im := b.importer(t)
	archived := true
	im.Archived = func(project uint64) bool { return project == 1 && archived }
	if _, err := im.Run(t.Context(), nil); errata.KindOf(err) != errata.KindProjectArchived {
		t.Errorf("got %v, want project_archived", err)
	}
	if events, _ := b.logged(t); len(events) != 0 {
		t.Errorf("%d events are on the log", len(events))
	}
	archived = false
	if result, err := im.Run(t.Context(), nil); err != nil || result.Events != 1 {
		t.Errorf("back from the archive: %+v, %v", result, err)
	}
}

func TestBreaksOffAnywhere(t *testing.T) {
	const lines = 40_000 // 1,000 make a block
	b := newBench(t)
	b.put(t, "system/a.log", string(phpLines(lines)))
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	moments := []string{"claimed", "begun", "appending", "in flight", "appended"}
	broken, total := 0, int64(0)
	for round := range 28 {
		moment, after := moments[round%len(moments)], random.IntN(3)
		switch { // the last moments are those of the end
		case round >= 25:
			moment, after = []string{"finishing", "renaming", "renamed"}[round-25], 0
		case round%len(moments) < 2:
			after = 0 // these moments come once
		}
		got, err := b.breakOff(t, moment, after, time.Duration(random.IntN(3000))*time.Microsecond)
		total += got.Events
		b.ahead.Add(int64(lockPatience))
		if err != nil {
			if !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
				t.Fatalf("round %d: %v", round, err)
			}
			broken++
		}
	}
	last := b.run(t)
	_, ids := b.logged(t)
	once := 0
	for id, n := range ids {
		if n == 1 {
			once++
		} else {
			t.Fatalf("event %s stands on the log %d times", id, n)
		}
	}
	t.Logf("broken off %d times; calls answered %d events", broken, total+last.Events)
	if broken < 20 || once != lines {
		t.Errorf("broken off %d times, %d events, want at least 20 and %d", broken, once, lines)
	}
	if !b.exists("system/done/a.log") || b.exists("system/a.log.importing") {
		t.Error("the file is not where it belongs")
	}
	if again := b.run(t); again.Events != 0 || again.Files != 0 {
		t.Errorf("a second call imported %+v", again)
	}
}

// breakOff runs an import and stops it at the moment, which it first passes as
// often as after says. "in flight" cancels it while a block is on its way: then it
// is unknown whether the log has the block.
func (b *bench) breakOff(t *testing.T, moment string, after int, wait time.Duration) (Result, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopping sync.WaitGroup
	defer stopping.Wait()
	im := b.importer(t)
	im.broken = func(at string) error {
		if at != moment && (moment != "in flight" || at != "appending") {
			return nil
		}
		if after--; after >= 0 {
			return nil
		}
		if moment != "in flight" {
			return errBroken
		}
		stopping.Go(func() {
			<-time.After(wait)
			cancel()
		})
		return nil
	}
	return im.Run(ctx, nil)
}

// lockPatience is longer than a lock stays without its owner.
const lockPatience = 31 * time.Second

// TestPackedBreaksOff: a compressed file goes on at its unpacked offset.
func TestPackedBreaksOff(t *testing.T) {
	const lines = 10_000
	b := newBench(t)
	b.put(t, "system/a.log.gz", packed(t, phpLines(lines)))
	for n := range 3 {
		if _, err := b.breakOff(t, "appended", n, 0); !errors.Is(err, errBroken) {
			t.Fatalf("not broken off: %v", err)
		}
	}
	b.run(t)
	events, ids := b.logged(t)
	if len(ids) != lines || len(events) != lines {
		t.Errorf("%d events with %d ids, want %d", len(events), len(ids), lines)
	}
}

// TestPurgedLog: when the log is purged, the import book has the mark.
func TestPurgedLog(t *testing.T) {
	const lines = 5000
	b := newBench(t)
	b.put(t, "system/a.log", string(phpLines(lines)))
	im := b.importer(t)
	im.broken = func(at string) error {
		if at == "finishing" {
			return errBroken
		}
		return nil
	}
	if _, err := im.Run(t.Context(), nil); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	hash, record, found, err := b.book.Current(t.Context())
	if err != nil || !found {
		t.Fatal(found, err)
	}
	mark, seq, found, err := eventlog.LastImport(t.Context(), b.log, hash)
	if err != nil || !found || !mark.Done || mark.Events != lines || seq == 0 {
		t.Fatalf("on the log: %+v at %d, %v", mark, seq, err)
	}
	record.Mark = mark
	if err := b.book.Save(t.Context(), hash, record); err != nil {
		t.Fatal(err)
	}
	s, err := b.log.JetStream.Stream(t.Context(), b.log.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.run(t); got.Events != 0 || got.Files != 1 || !b.exists("system/done/a.log") {
		t.Errorf("imported again: %+v", got)
	}
}

// TestGrownWhileClaimed: bytes that a writer appends to a claimed file cause a
// warning. The file is still the same file.
func TestGrownWhileClaimed(t *testing.T) {
	b := newBench(t)
	b.put(t, "system/a.log", string(phpLines(3000)))
	im := b.importer(t)
	im.broken = func(at string) error {
		if at == "appended" {
			return errBroken
		}
		return nil
	}
	if _, err := im.Run(t.Context(), nil); err == nil {
		t.Fatal("not broken off")
	}
	f, err := os.OpenFile(filepath.Join(b.dir, "system/a.log.importing"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("12345678\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got := b.run(t)
	if _, ids := b.logged(t); len(ids) != 3000 {
		t.Errorf("%d events, want 3000", len(ids))
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Reason, "grown by 9 bytes") {
		t.Errorf("warned about %+v", got.Warnings)
	}
}

// TestOneAtATime: a second import is refused. The lock of a dead import ends.
func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	b.put(t, "system/a.log", string(phpLines(10)))
	im := b.importer(t)
	im.broken = func(at string) error {
		if at == "appending" {
			if _, err := b.importer(t).Run(t.Context(), nil); errata.KindOf(err) != errata.KindAlreadyRunning {
				t.Errorf("a second import: %v", err)
			}
		}
		return nil
	}
	if _, err := im.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	// A killed import does not release its lock.
	_, dead, err := b.book.Lock(context.Background(), b.now())
	if err != nil {
		t.Fatal(err)
	}
	defer dead() // long after another import has the lock
	if _, err := b.importer(t).Run(t.Context(), nil); errata.KindOf(err) != errata.KindAlreadyRunning {
		t.Errorf("at once: %v", err)
	}
	b.ahead.Add(int64(lockPatience))
	b.run(t)
}

// TestProgress: the last progress is the end of the file.
func TestProgress(t *testing.T) {
	b := newBench(t)
	text := phpLines(3000)
	b.put(t, "system/a.log", string(text))
	var last Progress
	if _, err := b.importer(t).Run(t.Context(), func(p Progress) {
		if p.BytesDone < last.BytesDone {
			t.Errorf("went back from %+v to %+v", last, p)
		}
		last = p
	}); err != nil {
		t.Fatal(err)
	}
	want := Progress{File: "system/a.log", BytesDone: int64(len(text)), BytesTotal: int64(len(text)), Lines: 3000, Events: 3000}
	if last != want {
		t.Errorf("ended at %+v, want %+v", last, want)
	}
}

// TestSplitsLargeEvents: a batch whose events do not fit a block becomes several.
func TestSplitsLargeEvents(t *testing.T) {
	b := newBench(t)
	var text bytes.Buffer
	for i := range 300 { // each event has some 16 KB on the log
		fmt.Fprintf(&text, "[21-Nov-2025 03:58:25 UTC] %d %s\n", i, strings.Repeat("long message ", 600))
	}
	b.put(t, "system/a.log", text.String())
	if got := b.run(t); got.Events != 300 {
		t.Errorf("imported %+v", got)
	}
	if _, ids := b.logged(t); len(ids) != 300 {
		t.Errorf("%d events on the log", len(ids))
	}
}
