package logfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Mended is a file from which damaged messages were removed.
type Mended struct {
	Stream string
	File   string // "3.blk"
	// Bytes is how many bytes were removed.
	Bytes int
	// Kept is the path of the copy of the damaged file.
	Kept string
}

// guardReaders is how many files are read at the same time: while some are checked, others
// come from the disk. Each takes 8 MB of memory.
const guardReaders = 4

// Guard checks the files of every stream below a folder before the server starts.
// It removes the damage that would make the server cut off good messages, or keep
// it from starting. Damage at the end of a file stays: the server cuts it off as
// the rest of a crash, and no good message is after it. A copy of each damaged file
// is kept in the folder "damaged", where [Inventory.Repair] finds it.
//
// After a clean stop, Guard reads only lengths and sequences, which takes a second
// for 10 GiB. Else it reads everything, as the server then does too. See [Reread].
func Guard(folder string) (list []Mended, err error) {
	streams, err := Streams(folder)
	if err != nil {
		return nil, err
	}
	for _, s := range streams {
		mended, err := s.guard(filepath.Join(folder, "damaged", s.Name))
		if err != nil {
			return nil, fmt.Errorf("look at the files of stream %s: %w", s.Name, err)
		}
		list = append(list, mended...)
	}
	return list, nil
}

func (s Stream) guard(keep string) (list []Mended, err error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	clean := s.stoppedCleanly(files)
	mended := make([]*Mended, len(files))
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	var group errgroup.Group
	group.SetLimit(guardReaders)
	for i, f := range files {
		group.Go(func() error {
			if clean {
				if fine, err := f.orderly(); err != nil || fine {
					return err
				}
			}
			buffer := buffers.Get().(*bytes.Buffer)
			defer buffers.Put(buffer)
			var err error
			mended[i], err = s.mend(f, keep, buffer)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, m := range mended {
		if m != nil {
			list = append(list, *m)
		}
	}
	return list, nil
}

// stoppedCleanly says whether the server wrote its index after all other files.
// Then it does not read the files when it starts.
func (s Stream) stoppedCleanly(files []file) bool {
	index, err := os.Stat(filepath.Join(s.folder, "msgs", indexFile))
	if err != nil {
		return false
	}
	for _, f := range files {
		if f.time.After(index.ModTime()) {
			return false
		}
	}
	return true
}

func (f file) orderly() (bool, error) {
	in, err := os.Open(f.path)
	if err != nil {
		return false, err
	}
	defer in.Close()
	return orderly(in, f.size)
}

// mend removes from a file the damage that is before an undamaged message. It
// returns nil when there is none. The buffer is for the content of the file.
func (s Stream) mend(f file, keep string, buffer *bytes.Buffer) (*Mended, error) {
	content, ok, err := f.readInto(buffer)
	if err != nil || !ok {
		return nil, err
	}
	found := scanFile(content, newHasher(s.Name, f.number))
	m := Mended{Stream: s.Name, File: filepath.Base(f.path)}
	var whole []byte
	from := 0
	for _, d := range found.damaged {
		if d.tail {
			break
		}
		whole = append(whole, content[from:d.at]...)
		from = d.end
		m.Bytes += d.end - d.at
	}
	if m.Bytes == 0 {
		return nil, nil //nolint:nilnil // nothing to mend
	}
	whole = append(whole, content[from:]...)
	if m.Kept, err = setAside(f.path, content, keep); err != nil {
		return nil, err
	}
	if err := replace(f.path, whole); err != nil {
		return nil, err
	}
	return &m, s.dropIndex()
}

// Reread removes the index of the stream below a folder. Then the next start of the server reads
// all files of the stream, also after a clean stop, and keeps what can be read.
func Reread(folder, stream string) error {
	s, err := Open(folder, stream)
	if err != nil {
		return err
	}
	return s.dropIndex()
}

// dropIndex removes the index, so that the server reads the files again.
func (s Stream) dropIndex() error {
	err := os.Remove(filepath.Join(s.folder, "msgs", indexFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the index of the log, so that its files are read again: %w", err)
	}
	return nil
}
