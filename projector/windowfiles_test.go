package projector

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// idsOf is a stretch of two blocks with three events.
func idsOf() idStretch {
	return idStretch{
		log: 1_700_000_000_000_000_001, first: 5, last: 9,
		blocks: []idBlock{{6, 1_700_000_000_000, 2}, {8, 1_700_000_000_500, 1}},
		ids:    bytes.Repeat([]byte("0123456789abcdef"), 3),
	}
}

func TestIDsGolden(t *testing.T) {
	const path = "testdata/window.ids.hex"
	got := hex.EncodeToString(idsOf().encode())
	want, err := os.ReadFile(path)
	if err != nil || got != string(bytes.TrimSpace(want)) {
		t.Fatalf("a file of ids is\n%s\nwant that of %s (%v): programs of this format read each other's files", got, path, err)
	}
	s, err := decodeIDs(idsOf().encode())
	if err != nil || !bytes.Equal(s.encode(), idsOf().encode()) {
		t.Errorf("decoded it is %+v, %v", s, err)
	}
}

func TestIDsDamaged(t *testing.T) {
	whole := idsOf().encode()
	for n := range whole {
		if _, err := decodeIDs(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are a file of ids", n, len(whole))
		}
		flipped := bytes.Clone(whole)
		flipped[n] ^= 4
		if _, err := decodeIDs(flipped); err == nil {
			t.Errorf("with byte %d changed it is a file of ids", n)
		}
	}
}

func FuzzIDs(f *testing.F) {
	f.Add(idsOf().encode())
	f.Add(idStretch{first: 1, last: 1}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeIDs(data)
		if err == nil && !bytes.Equal(s.encode(), data) {
			t.Errorf("%x is read as %+v, which is another file", data, s)
		}
	})
}

// fileFact is a fact of a log of the model: a block, a gap, or something without events.
type fileFact struct {
	block eventlog.Block // without events when there is none
	gap   bool
}

// filesAt makes the files of a session, whose tables stand at the fact.
func filesAt(folder string, log int64, inTables *uint64) *windowFiles {
	return &windowFiles{
		folder: folder, log: slog.New(slog.DiscardHandler), inTables: func() uint64 { return *inTables }, atLeast: 8,
		open: idStretch{log: log}, write: make(chan idFileJob, 1000),
	}
}

// flush writes what waits to be written.
func (f *windowFiles) flush(t interface{ Fatal(...any) }) {
	for len(f.write) > 0 {
		if err := f.put(<-f.write); err != nil {
			t.Fatal(err)
		}
	}
}

// readFact adds a fact to the window, as a session does.
func (f *windowFiles) readFact(t interface{ Fatal(...any) }, w *window, sequence uint64, fact fileFact) {
	switch {
	case fact.gap:
		f.gap()
	case fact.block.Len() == 0:
		f.passed(sequence)
	default:
		addBlock(w, sequence, fact.block)
		f.added(sequence, fact.block)
	}
	oldest, _ := w.from(sequence + 1)
	if err := f.keep(context.Background(), oldest); err != nil {
		t.Fatal(err)
	}
}

func (w *window) contents() (ids []errata.EventID, blocks []windowBlock) {
	for i := w.first; i < w.next; i++ {
		ids = append(ids, w.ring[i%uint64(len(w.ring))])
	}
	return ids, slices.Clone(w.blocks)
}

// drawFacts draws a log of the facts 1 to end.
func drawFacts(t *rapid.T, end uint64) map[uint64]fileFact {
	log, now := map[uint64]fileFact{}, int64(1_700_000_000_000)
	for seq := uint64(1); seq <= end; seq++ {
		now += rapid.SampledFrom([]int64{0, 1000, windowAge / 9}).Draw(t, "step")
		fact := fileFact{gap: rapid.IntRange(0, 30).Draw(t, "gap") == 0}
		if !fact.gap && rapid.IntRange(0, 5).Draw(t, "other") > 0 {
			fact.block = blockOf(t, now, rapid.SliceOfN(rapid.IntRange(0, 500), 1, 6).Draw(t, "ids")...)
		}
		log[seq] = fact
	}
	return log
}

// TestWindowOfFiles: for any log, and any places where sessions end, the window of the files and
// the rest of the log is the window of the log alone. No file has a gap, or a fact that is not in
// the tables.
func TestWindowOfFiles(t *testing.T) {
	folders, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		const limit, end = 64, 120
		runs++
		folder := filepath.Join(folders, fmt.Sprint(runs))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		log := drawFacts(t, end)
		var inTables, read uint64
		from, clock := uint64(1), int64(0)
		for inTables < end {
			w := newWindow(limit, clock)
			f := filesAt(folder, 7, &inTables)
			next := f.load(w, from, inTables)
			alone := newWindow(limit, clock)
			for seq := from; seq <= inTables; seq++ {
				if b := log[seq].block; b.Len() > 0 {
					addBlock(alone, seq, b)
				}
				if seq >= next {
					f.readFact(t, w, seq, log[seq])
					read++
				}
			}
			haveIDs, haveBlocks := w.contents()
			wantIDs, wantBlocks := alone.contents()
			if !slices.Equal(haveIDs, wantIDs) || !slices.Equal(haveBlocks, wantBlocks) {
				t.Fatalf("at fact %d, read from %d: the window has the blocks %v, want %v", inTables, next, haveBlocks, wantBlocks)
			}
			stop := min(end, inTables+rapid.Uint64Range(1, 40).Draw(t, "facts"))
			lag := rapid.Uint64Range(0, 6).Draw(t, "lag")
			for seq := inTables + 1; seq <= stop; seq++ {
				f.readFact(t, w, seq, log[seq])
				if seq > lag+inTables && rapid.Bool().Draw(t, "commit") {
					inTables = seq - lag
				}
			}
			if stop == end {
				inTables = end
			}
			f.flush(t)
			checkFiles(t, f, log, inTables)
			// What the next session needs, as its checkpoint says.
			at := newWindow(limit, 0)
			for seq := uint64(1); seq <= inTables; seq++ {
				if b := log[seq].block; b.Len() > 0 {
					addBlock(at, seq, b)
				}
			}
			from, clock = at.from(inTables + 1)
		}
	})
}

// checkFiles fails unless each file has exactly the events of its facts.
func checkFiles(t *rapid.T, f *windowFiles, log map[uint64]fileFact, inTables uint64) {
	for _, file := range f.list() {
		s, err := f.read(file)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for seq := s.first; seq <= s.last; seq++ {
			if log[seq].gap || seq > inTables {
				t.Fatalf("the file %d to %d has fact %d: a gap %v, the tables stand at %d", s.first, s.last, seq, log[seq].gap, inTables)
			}
			want = append(want, log[seq].block.IDs()...)
		}
		if !bytes.Equal(s.ids, want) {
			t.Fatalf("the file %d to %d has other ids than the log", s.first, s.last)
		}
	}
}

// filledFiles makes three files of two blocks each, of the facts 1 to 6.
func filledFiles(t *testing.T) (folder string, paths []string) {
	t.Helper()
	folder, inTables := t.TempDir(), uint64(6)
	f, w := filesAt(folder, 7, &inTables), newWindow(64, 0)
	for seq := uint64(1); seq <= 6; seq++ {
		f.readFact(t, w, seq, fileFact{block: blockOf(t, 1000, int(seq)*10, int(seq)*10+1, int(seq)*10+2, int(seq)*10+3)})
	}
	f.flush(t)
	for _, file := range f.list() {
		paths = append(paths, file.path)
	}
	if len(paths) != 3 {
		t.Fatalf("the files are %v", paths)
	}
	return folder, paths
}

// TestFilesThatCannotBeUsed: behind a file that is gone, damaged, unfinished or of another log,
// everything is read from the log.
func TestFilesThatCannotBeUsed(t *testing.T) {
	write := func(t *testing.T, path string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		harm       func(t *testing.T, paths []string)
		log        int64
		from, upTo uint64
		next       uint64
		left       int
	}{
		"none":               {nil, 7, 1, 6, 7, 3},
		"another log":        {nil, 8, 1, 6, 1, 0},
		"behind the tables":  {nil, 7, 1, 3, 4, 1},
		"empty tables":       {nil, 7, 1, 0, 1, 0},
		"window begins late": {nil, 7, 4, 6, 7, 2},
		"older than needed":  {nil, 7, 9, 12, 9, 0},
		"one gone":           {func(t *testing.T, paths []string) { _ = os.Remove(paths[1]) }, 7, 1, 6, 3, 1},
		"one empty":          {func(t *testing.T, paths []string) { write(t, paths[1], nil) }, 7, 1, 6, 3, 1},
		"one under a wrong name": {func(t *testing.T, paths []string) {
			_ = os.Rename(paths[2], filepath.Join(filepath.Dir(paths[2]), "00000000000000000005-00000000000000000009.ids"))
		}, 7, 1, 6, 5, 2},
		"one not finished": {func(t *testing.T, paths []string) { write(t, paths[2]+".new", []byte("ERI")) }, 7, 1, 6, 7, 3},
		"a stranger":       {func(t *testing.T, paths []string) { write(t, filepath.Join(filepath.Dir(paths[0]), "notes.txt"), nil) }, 7, 1, 6, 7, 3},
	} {
		t.Run(name, func(t *testing.T) {
			folder, paths := filledFiles(t)
			if test.harm != nil {
				test.harm(t, paths)
			}
			f, w := filesAt(folder, test.log, &test.upTo), newWindow(64, 0)
			if next := f.load(w, test.from, test.upTo); next != test.next {
				t.Errorf("the log is read from fact %d, want %d", next, test.next)
			}
			if left := len(f.list()); left != test.left {
				t.Errorf("%d files are left, want %d", left, test.left)
			}
			want := max(0, int(min(test.next, test.upTo+1))-int(test.from)) * 4
			if ids, _ := w.contents(); len(ids) != want {
				t.Errorf("the window has %d ids, want %d", len(ids), want)
			}
		})
	}
}
