package legacy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/errata-log/errata/eventlog"
)

// job is one file on its way.
type job struct {
	*run
	folder *folder
	name   string // as it is called now
	path   string // as the operator is told
	file   *os.File
	info   fs.FileInfo
	survey survey

	record eventlog.ImportRecord
	begun  eventlog.ImportMark // where this call began
	seq    uint64              // of the file's last block on the log
	blocks int                 // appended by this call
	// firstUnreadable is the number of the first line that could not be read.
	firstUnreadable int64
}

var (
	errWaiting  = fmt.Errorf("its last line has no end, and it was written to less than %s ago; it is taken next time", settleTime)
	errImported = errors.New("a file with the same bytes was imported before")
)

// file imports one file from where it stands to done/.
func (r *run) file(ctx context.Context, f *folder, name string) error {
	file, info, err := f.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody took it away, which is their right
	}
	if err != nil {
		return err
	}
	defer file.Close()
	j := &job{run: r, folder: f, name: name, path: f.path(name), file: file, info: info}
	r.progress(Progress{File: j.path, BytesTotal: info.Size()})
	if err := j.look(ctx); err != nil {
		return err
	}
	if claimed := strings.HasSuffix(name, claimMark); !claimed && !j.survey.settled && r.Now().Sub(info.ModTime()) < settleTime {
		return errWaiting
	}
	if j.name, err = f.claim(name, info); err != nil {
		return err
	}
	if err := r.at("claimed"); err != nil {
		return err
	}
	if err := j.find(ctx); err != nil {
		return err
	}
	if j.record.Finished.IsZero() {
		if err := j.bring(ctx); err != nil {
			return err
		}
		r.result.Files++
	} else if j.survey.size > 0 {
		j.skip(j.path, fmt.Errorf("%w, as %s", errImported, j.record.Name))
	}
	if err := r.at("renaming"); err != nil {
		return err
	}
	j.warnGrown()
	if err := f.finish(j.name); err != nil {
		j.warn(j.path, "it was imported and could not be moved into %s: %v", doneFolder, err)
	}
	return r.at("renamed")
}

// look finds out what the file is. One that an earlier call had begun is the
// bytes that it had then: what was appended since would make another hash of
// it, and import it twice.
func (j *job) look(ctx context.Context) (err error) {
	if strings.HasSuffix(j.name, claimMark) {
		hash, record, found, err := j.Book.Current(ctx)
		if err != nil {
			return err
		}
		if found && record.Name == j.path && record.Size <= j.info.Size() {
			if j.survey, err = look(ctx, j.file, record.Size); err != nil || j.survey.hash == hash {
				return err
			}
		}
	}
	j.survey, err = look(ctx, j.file, j.info.Size())
	return err
}

// find reads how far earlier calls came: by the log, or by the book where that
// knows more because the log was purged.
func (j *job) find(ctx context.Context) error {
	record, found, err := j.Book.Find(ctx, j.survey.hash)
	if err != nil {
		return err
	}
	mark, seq, _, err := eventlog.LastImport(ctx, j.Log, j.survey.hash)
	if err != nil {
		return err
	}
	j.seq = seq
	if !found {
		record = eventlog.ImportRecord{
			Name: j.path, Book: j.folder.book.String(), Size: j.survey.size, Started: j.Now().UTC().Truncate(time.Millisecond),
		}
	}
	if mark.Beyond(record.Mark) {
		record.Mark = mark
	}
	j.record, j.begun = record, record.Mark
	return nil
}

// bring appends what is left of the file.
func (j *job) bring(ctx context.Context) error {
	if err := j.Book.Begin(ctx, j.survey.hash, j.record); err != nil {
		return err
	}
	if err := j.at("begun"); err != nil {
		return err
	}
	if !j.record.Mark.Done {
		from, err := j.survey.open(ctx, j.file, j.record.Mark.Offset)
		if err != nil {
			return err
		}
		c := &converter{
			rules: &j.Rules, project: j.Project, book: j.folder.book, fileHash: j.survey.hash,
			changed: j.info.ModTime(), now: j.Now,
		}
		if err := stream(ctx, from, j.record.Mark, c, j.put); err != nil {
			return err
		}
		if end := j.record.Mark.Offset; end != j.survey.total {
			return fmt.Errorf("it changed while it was read: it ended at %d, and had %d bytes", end, j.survey.total)
		}
	}
	j.record.Finished = j.Now().UTC().Truncate(time.Millisecond)
	if err := j.at("finishing"); err != nil {
		return err
	}
	if err := j.Book.Save(ctx, j.survey.hash, j.record); err != nil {
		return err
	}
	j.report()
	return nil
}

// put appends one block, and notes the position in the book now and then.
func (j *job) put(ctx context.Context, b block) error {
	if err := j.at("appending"); err != nil {
		return err
	}
	if b.data != nil {
		seq, err := eventlog.AppendImport(ctx, j.Log, j.survey.hash, j.seq, b.data, b.mark)
		if err != nil {
			return err
		}
		j.seq = seq
	}
	if err := j.at("appended"); err != nil {
		return err
	}
	before := j.record.Mark
	j.record.Mark = b.mark
	j.result.Lines += b.mark.Lines - before.Lines
	j.result.Events += b.mark.Events - before.Events
	j.result.Unreadable += b.mark.Unreadable - before.Unreadable
	j.metrics.add(before, b.mark)
	if b.mark.Unreadable > before.Unreadable && j.firstUnreadable == 0 {
		j.firstUnreadable = b.firstUnreadable
	}
	j.progress(Progress{
		File: j.path, BytesDone: b.mark.Offset, BytesTotal: j.survey.total, Lines: b.mark.Lines, Events: b.mark.Events,
	})
	if j.blocks++; j.blocks%saveEvery != 0 {
		return nil
	}
	if err := j.Book.Save(ctx, j.survey.hash, j.record); err != nil {
		return err
	}
	return j.at("saved")
}

// report tells what became of the file.
func (j *job) report() {
	mark := j.record.Mark
	j.Logger.Info("imported an old error file", "file", j.path,
		"lines", mark.Lines, "events", mark.Events, "unreadable", mark.Unreadable, "resumed_at", j.begun.Offset)
	if n := mark.Unreadable - j.begun.Unreadable; n > 0 {
		j.warn(j.path, "%d lines or entries of it could not be read, the first at line %d", n, j.firstUnreadable)
	}
	if j.survey.cut {
		j.warn(j.path, "it is packed, and its end is missing or broken; what could be unpacked was imported")
	}
}

// warnGrown tells about bytes that came after the import had begun: they are
// not read silently, for then the next call would not know them.
func (j *job) warnGrown() {
	info, err := j.file.Stat()
	if err != nil || info.Size() <= j.survey.size {
		return
	}
	j.warn(j.path, "it has grown by %d bytes since its import began, which were not imported; put them into a file of their own, and stop whoever writes into the old one",
		info.Size()-j.survey.size)
}
