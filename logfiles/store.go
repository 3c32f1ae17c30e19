package logfiles

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/errata-log/errata/internal/made"
)

const (
	fileSuffix = ".blk"
	indexFile  = "index.db"
	metaFile   = "meta.inf"
)

// compressed begins a file that the server has compressed. Errata has none of
// these.
var compressed = []byte("cmp")

// Stream is the folder of one stream.
type Stream struct {
	Name string
	// Created is when the stream was made; a new stream of the same name has
	// another. A stream that has moved into a cluster keeps it.
	Created time.Time

	folder string
}

// file is one file of a stream.
type file struct {
	number uint32
	path   string
	size   int64
	time   time.Time
}

// Streams finds all streams below a folder of NATS's files. It leaves out a folder
// whose description cannot be decoded; the server reports it.
func Streams(folder string) ([]Stream, error) {
	found, err := filepath.Glob(filepath.Join(folder, "jetstream", "*", "streams", "*", metaFile))
	if err != nil {
		return nil, fmt.Errorf("look for streams in %s: %w", folder, err)
	}
	var list []Stream
	for _, path := range found {
		var meta struct {
			Name     string            `json:"name"`
			Created  time.Time         `json:"created"`
			Metadata map[string]string `json:"metadata"`
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read what a stream is: %w", err)
		}
		if json.Unmarshal(text, &meta) == nil && meta.Name != "" {
			list = append(list, Stream{Name: meta.Name, Created: made.At(meta.Created, meta.Metadata), folder: filepath.Dir(path)})
		}
	}
	return list, nil
}

// ErrNoStream says that a folder has no stream of the name.
var ErrNoStream = errors.New("there is no such stream in the folder; it must be that of NATS's files, such as data/nats or a copy of it")

// Open finds the stream with the name below a folder of NATS's files.
func Open(folder, name string) (Stream, error) {
	all, err := Streams(folder)
	if err != nil {
		return Stream{}, err
	}
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return Stream{}, fmt.Errorf("stream %s in %s: %w", name, folder, ErrNoStream)
}

// files returns the files of the stream, by number.
func (s Stream) files() ([]file, error) {
	entries, err := os.ReadDir(filepath.Join(s.folder, "msgs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the files of stream %s: %w", s.Name, err)
	}
	var list []file
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), fileSuffix)
		number, err := strconv.ParseUint(name, 10, 32)
		if !ok || err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, fmt.Errorf("look at a file of stream %s: %w", s.Name, err)
		}
		list = append(list, file{uint32(number), filepath.Join(s.folder, "msgs", entry.Name()), info.Size(), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// read reads a file; ok is false for one that is compressed.
func (f file) read() (content []byte, ok bool, err error) {
	return f.readInto(new(bytes.Buffer))
}

// readInto is read. The content is in the buffer.
func (f file) readInto(buffer *bytes.Buffer) (content []byte, ok bool, err error) {
	in, err := os.Open(f.path)
	if err != nil {
		return nil, false, fmt.Errorf("read a file of the log: %w", err)
	}
	defer in.Close()
	buffer.Reset()
	buffer.Grow(int(f.size) + bytes.MinRead) // ReadFrom wants room behind the end
	if _, err := buffer.ReadFrom(in); err != nil {
		return nil, false, fmt.Errorf("read a file of the log: %w", err)
	}
	content = buffer.Bytes()
	return content, !bytes.HasPrefix(content, compressed), nil
}

// Locate names the files that held a stretch of the stream, as far as the first
// sequences of the files say: "3.blk or behind it", "before 5.blk".
func (s Stream) Locate(from, to uint64) string {
	files, err := s.files()
	if err != nil || len(files) == 0 {
		return ""
	}
	var holds, behind string
	for _, f := range files {
		first, err := f.first()
		if err != nil {
			continue
		}
		if first <= from {
			holds = filepath.Base(f.path)
		} else if first > to && behind == "" {
			behind = filepath.Base(f.path)
		}
	}
	switch {
	case holds == "":
		return "before " + behind
	case behind == "":
		return holds + " or behind it"
	default:
		return holds + " or between it and " + behind
	}
}

// first is the sequence at the beginning of a file.
func (f file) first() (uint64, error) {
	in, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	var head [headSize]byte
	if _, err := in.ReadAt(head[:], 0); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(head[4:]) &^ goneBits, nil
}

// replace gives a file a new content. It returns when that is on disk.
func replace(path string, content []byte) (err error) {
	made := path + ".tmp" // the server ignores this name
	out, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write a file of the log: %w", err)
	}
	_, err = out.Write(content)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(made, path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write a file of the log: %w", errors.Join(err, os.Remove(made)))
	}
	return nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
