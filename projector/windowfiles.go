package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

const (
	// idsInFile is how many event ids are kept in one file, of 1 MB. The newest ones, up to so
	// many, are in none yet, and a start reads them from the log.
	idsInFile = 1 << 16
	idsSuffix = ".ids"
	// idFilesAhead is how many files the fold may be ahead of the disk.
	idFilesAhead = 4
)

// windowFiles keep the ids of the window in files, for the next start: to read 4 million events
// of 1 KB from the log takes four seconds, and the files of their ids half of one.
//
// The log stays the truth. A file has only facts that are in the tables, so their sequences are
// not used twice, and no gap, which a repair of the log may fill. What no file has is read from
// the log. One goroutine uses them, another one writes.
type windowFiles struct {
	folder   string
	log      *slog.Logger
	inTables func() uint64 // the last fact that is in the tables
	atLeast  int           // ids in a file, idsInFile
	open     idStretch     // grows
	full     []idStretch   // wait until they are in the tables
	write    chan idFileJob
}

// idFileJob is a stretch to write. The files of the facts before keep are not needed any more.
type idFileJob struct {
	idStretch
	keep uint64
}

// openWindowFiles makes the folder. It returns nil, with which nothing is kept, for no folder
// and for one that cannot be made.
func (p *Projector) openWindowFiles(cp Checkpoint) *windowFiles {
	folder, log := p.cfg.WindowFolder, p.cfg.Logger
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		log.Warn("event ids are not kept, so that the next start takes longer", "error", err)
		return nil
	}
	return &windowFiles{
		folder: folder, log: log, inTables: p.inTables, atLeast: idsInFile,
		open: idStretch{log: cp.Log}, write: make(chan idFileJob, idFilesAhead),
	}
}

// forgetIDs removes the files, when the tables were made again from the log and no session runs.
// The log may have other facts than those that the files were made from: a repair fills gaps, and
// a log that was restored to an older state may have used sequences twice.
func (p *Projector) forgetIDs() {
	if p.cfg.WindowFolder == "" {
		return
	}
	if err := os.RemoveAll(p.cfg.WindowFolder); err != nil {
		p.cfg.Logger.Error("event ids from before the replay are still kept: delete the folder and restart", "folder", p.cfg.WindowFolder, "error", err)
	}
}

// idFile is one file in the folder.
type idFile struct {
	path        string
	first, last uint64
}

func (f *windowFiles) list() (files []idFile) {
	entries, err := os.ReadDir(f.folder)
	if err != nil {
		f.log.Warn("kept event ids cannot be read; they are read from the log", "error", err)
	}
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), idsSuffix)
		first, last, _ := strings.Cut(name, "-")
		file := idFile{path: filepath.Join(f.folder, e.Name())}
		file.first, _ = strconv.ParseUint(first, 10, 64) // 0 for a file that was not finished
		file.last, _ = strconv.ParseUint(last, 10, 64)
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b idFile) int { return cmp.Compare(a.first, b.first) })
	return files
}

// load adds the facts from to upTo to the window, as far as the files have them without a hole.
// It returns the first fact that is to be read from the log. Files of no use are removed.
func (f *windowFiles) load(w *window, from, upTo uint64) (next uint64) {
	if f == nil {
		return from
	}
	next = from
	files := f.list()
	w.reserve(len(files) * f.atLeast)
	whole := true
	for _, file := range files {
		if file.last < next || file.first > next || next > upTo || !whole {
			f.remove(file.path)
			continue
		}
		s, err := f.read(file)
		if whole = err == nil; !whole {
			f.log.Warn("kept event ids cannot be read; they are read from the log", "file", file.path, "error", err)
			f.remove(file.path)
			continue
		}
		s = s.between(next, upTo)
		s.addTo(w)
		if next = s.last + 1; s.last < file.last { // a file is to begin here again
			f.open = s
			f.remove(file.path)
		}
	}
	return next
}

func (f *windowFiles) read(file idFile) (idStretch, error) {
	data, err := os.ReadFile(file.path)
	if err != nil {
		return idStretch{}, err
	}
	s, err := decodeIDs(data)
	if err == nil && (s.log != f.open.log || s.first != file.first || s.last != file.last) {
		err = errIDs // of another log
	}
	return s, err
}

func (f *windowFiles) remove(path string) {
	if err := os.Remove(path); err != nil {
		f.log.Warn("a file of kept event ids cannot be removed", "error", err)
	}
}

// between leaves out the facts before first and behind last.
func (s idStretch) between(first, last uint64) idStretch {
	if first <= s.first && s.last <= last {
		return s
	}
	cut := idStretch{log: s.log, first: max(s.first, first), last: min(s.last, last)}
	at := 0
	for _, b := range s.blocks {
		end := at + int(b.events)*idSize
		if b.sequence >= cut.first && b.sequence <= cut.last {
			cut.blocks, cut.ids = append(cut.blocks, b), append(cut.ids, s.ids[at:end]...)
		}
		at = end
	}
	return cut
}

func (s idStretch) addTo(w *window) {
	ids := s.ids
	for _, b := range s.blocks {
		w.begin(b.sequence, b.received, int(b.events))
		for range b.events {
			w.add(errata.EventID(ids[:idSize]))
			ids = ids[idSize:]
		}
	}
}

// passed notes a fact without events.
func (f *windowFiles) passed(sequence uint64) {
	if f == nil {
		return
	}
	if f.open.first == 0 {
		f.open.first = sequence
	}
	f.open.last = sequence
}

// added notes a block that was added to the window.
func (f *windowFiles) added(sequence uint64, b eventlog.Block) {
	if f == nil {
		return
	}
	f.passed(sequence)
	f.open.blocks = append(f.open.blocks, idBlock{sequence, b.Received, uint32(b.Len())})
	f.open.ids = append(f.open.ids, b.IDs()...)
	if len(f.open.ids) >= f.atLeast*idSize {
		f.full = append(f.full, f.open)
		f.open = idStretch{log: f.open.log}
	}
}

// gap notes that facts are missing or unreadable.
func (f *windowFiles) gap() {
	if f != nil {
		f.open = idStretch{log: f.open.log}
	}
}

// keep writes the full stretches up to the fact that is in the tables. The window begins at
// oldest.
func (f *windowFiles) keep(ctx context.Context, oldest uint64) error {
	for f != nil && len(f.full) > 0 && f.full[0].last <= f.inTables() {
		select {
		case f.write <- idFileJob{f.full[0], oldest}:
			f.full = slices.Delete(f.full, 0, 1)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// run writes until ctx ends. A failure costs the next start some seconds.
func (f *windowFiles) run(ctx context.Context) error {
	for f != nil {
		select {
		case job := <-f.write:
			if err := f.put(job); err != nil {
				f.log.Warn("event ids are not kept, so that the next start takes longer", "error", err)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// put writes a file to the disk and removes those that are not needed any more. The names in
// the folder are not synced: the log syncs its files all the time, and a file system brings them
// to the disk with those.
func (f *windowFiles) put(job idFileJob) error {
	path := filepath.Join(f.folder, fmt.Sprintf("%020d-%020d%s", job.first, job.last, idsSuffix))
	made := path + ".new"
	out, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = out.Write(job.encode())
		err = errors.Join(err, out.Sync(), out.Close())
	}
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return fmt.Errorf("write a file of event ids: %w", err)
	}
	for _, file := range f.list() {
		if file.last < job.keep {
			f.remove(file.path)
		}
	}
	return nil
}
