package logfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Mended is a file from which damaged messages were taken.
type Mended struct {
	Stream string
	File   string // "3.blk"
	// Bytes are those that were no message.
	Bytes int
	// Kept is the path of the file as it was.
	Kept string
}

// Guard looks at the files of every stream below a folder before a server does,
// and takes out what would make the server cut off the messages behind it, or
// keep it from coming up. What is damaged at the end of a file stays: the server
// cuts it off as what a crash has left, and nothing is lost by that. A file as
// it was is kept in the folder damaged, where [Repair] finds it.
//
// After a clean stop only lengths and sequences are read, which takes a second
// for 10 GiB; else all, as the server then does itself.
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
	for _, f := range files {
		if clean {
			fine, err := f.orderly()
			if err != nil {
				return nil, err
			}
			if fine {
				continue
			}
		}
		mended, err := s.mend(f, keep)
		if err != nil {
			return nil, err
		}
		if mended != nil {
			list = append(list, *mended)
		}
	}
	return list, nil
}

// stoppedCleanly says that the server wrote its index after all else, and so
// will not read the files when it starts.
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

// mend takes out of a file what is damaged in front of something whole; nil when
// there is nothing.
func (s Stream) mend(f file, keep string) (*Mended, error) {
	content, ok, err := f.read()
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

// dropIndex has the server read the files anew.
func (s Stream) dropIndex() error {
	err := os.Remove(filepath.Join(s.folder, "msgs", indexFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("have the files of the log read anew: %w", err)
	}
	return nil
}
