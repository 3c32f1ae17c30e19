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

// job is the import of one file.
type job struct {
	*run
	folder *folder
	name   string // its present name
	path   string // its name in messages
	file   *os.File
	info   fs.FileInfo
	survey survey

	record eventlog.ImportRecord
	begun  eventlog.ImportMark // where this call began
	seq    uint64              // of the file's last block on the log
	blocks int                 // appended by this call
	// firstUnreadable is the number of the first unreadable line.
	firstUnreadable int64
}

var (
	errWaiting  = fmt.Errorf("its last line has no line break, and it was written to less than %s ago; the next import takes it", settleTime)
	errImported = errors.New("a file with the same bytes was imported before")
)

// file imports one file and moves it to done/.
func (r *run) file(ctx context.Context, f *folder, name string) error {
	file, info, err := f.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody moved or deleted it, which is allowed
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
		j.warn(j.path, "it was imported, but could not be moved into %s: %v", doneFolder, err)
	}
	return r.at("renamed")
}

// look surveys the file. Of a file that an earlier call began, it takes the bytes
// of that time: with the bytes that were appended since, the hash would be
// another one, and the events would count twice.
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

// find reads how far earlier calls came: from the log, or from the import book
// when the log was purged.
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

// bring appends the rest of the file.
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
			rules: &j.Rules, noise: j.Noise, project: j.Project, book: j.folder.book, fileHash: j.survey.hash,
			changed: j.info.ModTime(), now: j.Now,
		}
		if err := stream(ctx, from, j.record.Mark, c, j.put); err != nil {
			return err
		}
		if end := j.record.Mark.Offset; end != j.survey.total {
			return fmt.Errorf("it changed during its import: it ended after %d bytes, not after %d", end, j.survey.total)
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

// put appends one block, and saves the mark in the import book now and then.
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

// report logs the result for the file.
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

// warnGrown warns of bytes that came after the import began. They are not
// imported, because the next call would not recognise the file.
func (j *job) warnGrown() {
	info, err := j.file.Stat()
	if err != nil || info.Size() <= j.survey.size {
		return
	}
	j.warn(j.path, "it has grown by %d bytes since its import began, which were not imported; put them into a new file, and stop the program that writes into the old one",
		info.Size()-j.survey.size)
}
