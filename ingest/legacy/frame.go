package legacy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// entry is one error of a file: its text in the batch's buffer, and its place.
type entry struct {
	begin, end int
	offset     int64 // of its first byte in the file
	// lines and unreadable count the lines of the batch before this entry.
	lines, unreadable int64
}

// batch is a part of a file, cut into entries.
type batch struct {
	text    []byte
	entries []entry
	end     int64 // offset of the first byte behind it
	last    bool  // the file ends with it
	// unreadable of the lines belong to no entry.
	lines, unreadable int64
	firstUnreadable   int64 // number of the line in the batch, from 1; 0 for none

	blocks []block       // of the entries
	ready  chan struct{} // capacity 1: gets a token when blocks are complete
}

func newBatch() *batch { return &batch{ready: make(chan struct{}, 1)} }

func (b *batch) reset() {
	*b = batch{text: b.text[:0], entries: b.entries[:0], blocks: b.blocks[:0], ready: b.ready}
}

// skip counts a line that belongs to no entry.
func (b *batch) skip(line int64) {
	b.unreadable++
	if b.firstUnreadable == 0 || line < b.firstUnreadable {
		b.firstUnreadable = line
	}
}

func (b *batch) full() bool { return len(b.entries) >= batchEntries || len(b.text) >= batchBytes }

// framer cuts a file into entries. The beginning of an entry depends only on the
// entry before it, so that reading can go on at any entry.
type framer struct {
	in     *bufio.Reader
	offset int64 // of the next byte of in
	held   line  // read, and left for the next batch
	isHeld bool
}

// line is one line without its line break. Its text is valid until the next read.
type line struct {
	text  []byte
	start int64
	long  bool // longer than maxLine; the text is its beginning
}

// newFramer reads r, whose first byte stands at offset.
func newFramer(r io.Reader, offset int64) *framer {
	return &framer{in: bufio.NewReaderSize(r, maxLine+1), offset: offset}
}

// next reads a line. The last line may have no line break. The error is io.EOF at
// the end of the file, or the error of reading it.
func (f *framer) next() (line, error) {
	if f.isHeld {
		f.isHeld = false
		return f.held, nil
	}
	l := line{start: f.offset}
	text, err := f.in.ReadSlice('\n')
	f.offset += int64(len(text))
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = true
		l.text = bytes.Clone(text[:maxStamp])
		for errors.Is(err, bufio.ErrBufferFull) {
			text, err = f.in.ReadSlice('\n')
			f.offset += int64(len(text))
		}
		if err == nil || errors.Is(err, io.EOF) {
			return l, nil
		}
		return l, err
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
		return l, err
	}
	text = bytes.TrimSuffix(text, newline)
	l.text = bytes.TrimSuffix(text, carriage)
	if l.start == 0 {
		l.text = bytes.TrimPrefix(l.text, byteOrderMark)
	}
	return l, nil
}

var (
	newline       = []byte("\n")
	carriage      = []byte("\r")
	byteOrderMark = []byte("\xef\xbb\xbf")
)

func (f *framer) hold(l line) { f.held, f.isHeld = l, true }

// fill reads entries until the batch is full or the file ends.
func (f *framer) fill(b *batch) error {
	open := false // the last entry is a text, and may have more lines
	for {
		l, err := f.next()
		if errors.Is(err, io.EOF) {
			b.end, b.last = f.offset, true
			return nil
		}
		if err != nil {
			return err
		}
		form := formOf(l.text, open)
		if form != formNone && b.full() {
			f.hold(l)
			b.end = l.start
			return nil
		}
		b.lines++
		switch {
		case l.long:
			b.skip(b.lines)
			open = open && form == formNone
		case form != formNone:
			b.entries = append(b.entries, entry{
				begin: len(b.text), end: len(b.text) + len(l.text), offset: l.start,
				lines: b.lines - 1, unreadable: b.unreadable,
			})
			b.text = append(b.text, l.text...)
			open = form == formText
		case open:
			b.goOn(l.text)
		case len(bytes.TrimSpace(l.text)) > 0:
			b.skip(b.lines)
			if b.full() || b.lines >= maxStray {
				b.end = f.offset
				return nil
			}
		}
	}
}

// maxStray bounds the lines of a batch without entries, so that an operator sees
// progress in a file without errors.
const maxStray = 100_000

// goOn appends a line to the last entry, unless the entry would be too long.
func (b *batch) goOn(text []byte) {
	e := &b.entries[len(b.entries)-1]
	if e.end-e.begin+len(text) >= maxEntry {
		return
	}
	b.text = append(append(b.text, '\n'), text...)
	e.end = len(b.text)
}

// form says how a line begins an entry.
type form uint8

const (
	formNone form = iota // begins no entry
	formText             // begins an entry that may have further lines
	formJSON             // is an entry
)

// formOf says whether the line begins an entry. after says that it stands behind
// a text, which may have lines that look like an entry.
func formOf(text []byte, after bool) form {
	if len(text) < 2 {
		return formNone
	}
	switch text[0] {
	case '{':
		if !after || isRecord(text) {
			return formJSON
		}
	case '[':
		if kind, end := stampOf(text); kind != noStamp && !isXdebug(text[end+1:]) {
			return formText
		}
	default:
		if after && !bytes.HasPrefix(text, []byte(labelPrefix)) {
			return formNone
		}
		if _, _, ok := cutLabel(string(text[:min(len(text), maxLabel)])); ok {
			return formText
		}
	}
	return formNone
}

// recordKeys are keys of log records. Behind a text, a line of JSON with none of
// them belongs to the text.
var recordKeys = [][]byte{
	[]byte(`"message":`), []byte(`"msg":`), []byte(`"exception_class":`), []byte(`"@m":`), []byte(`"@mt":`), []byte(`"short_message":`),
}

func isRecord(text []byte) bool {
	return text[len(text)-1] == '}' &&
		slices.ContainsFunc(recordKeys, func(key []byte) bool { return bytes.Contains(text, key) })
}

// isXdebug says that the text behind a time belongs to the entry before it:
// Xdebug writes "PHP Stack trace:" and "PHP   1. {main}() …", each with a time.
func isXdebug(text []byte) bool {
	text, ok := bytes.CutPrefix(text, []byte(" PHP "))
	if !ok || len(text) == 0 {
		return false
	}
	if text[0] != ' ' {
		return bytes.HasPrefix(text, []byte("Stack trace:"))
	}
	text = bytes.TrimLeft(text, " ")
	number := bytes.IndexByte(text, '.')
	return number > 0 && number <= 3 && '0' <= text[0] && text[0] <= '9'
}
