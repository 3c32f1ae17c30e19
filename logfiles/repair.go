package logfiles

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFile is about how large a file becomes that holds what was lost; the
// server's own are at most so large.
const maxFile = 8 << 20

// ErrOtherStream says that a copy is of another stream.
var ErrOtherStream = errors.New("the copy is of another log, or of one that was made anew")

// Repair puts the messages that a stream has lost back to their places, from the
// copies that have them, and returns how many. No server may use the files of
// either. Messages of a copy count as long as it agrees with the stream: behind
// the first place where both hold different ones it is another history. first is
// where the stream should begin, 0 for its first message. The files as they were
// are kept in the folder keep.
func (s Stream) Repair(first uint64, copies []Stream, keep string, judge func(Message) Kind) (restored int, err error) {
	inv, err := s.inventory(judge)
	if err != nil {
		return 0, err
	}
	if first == 0 {
		first = inv.first
	}
	found := map[uint64]Message{}
	for _, from := range copies {
		if !from.Created.Equal(s.Created) {
			return 0, fmt.Errorf("%s: %w", from.folder, ErrOtherStream)
		}
		if err := s.takeFrom(from, inv, first, judge, found); err != nil {
			return 0, err
		}
	}
	if err := s.takeKept(keep, inv, first, judge, found); err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, nil
	}
	// Without the index the server reads the files anew, also when the rest does
	// not come to its end.
	if err := s.dropIndex(); err != nil {
		return 0, err
	}
	return len(found), s.write(inv, found, keep)
}

// takeFrom adds what a copy has and the stream lacks.
func (s Stream) takeFrom(from Stream, inv *inventory, first uint64, judge func(Message) Kind, found map[uint64]Message) error {
	files, err := from.files()
	if err != nil {
		return err
	}
	end, err := from.agreed(files, inv)
	if err != nil {
		return err
	}
	last := inv.last
	for _, f := range files {
		if err := from.each(f, f.number, func(m Message) {
			if m.Sequence < end && m.Sequence >= first && inv.lacks(m, &last) && judge(m) == Good {
				found[m.Sequence] = owned(m)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// agreed is the first sequence at which the copy and the stream hold different
// messages, neither of which is a filling.
func (s Stream) agreed(files []file, inv *inventory) (uint64, error) {
	end := ^uint64(0)
	for _, f := range files {
		if err := s.each(f, f.number, func(m Message) {
			if here, both := inv.messages[m.Sequence]; both && here.kind == Good && here.sum != sumOf(m) {
				end = min(end, m.Sequence)
			}
		}); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// lacks says whether the stream has nothing good in the message's place. Behind
// its end it lacks only what follows without a gap.
func (inv *inventory) lacks(m Message, last *uint64) bool {
	if m.Sequence > inv.last {
		if m.Sequence != *last+1 {
			return false
		}
		*last = m.Sequence
		return true
	}
	here, there := inv.messages[m.Sequence]
	return !there || here.kind != Good
}

// takeKept adds what stands in files that were set aside.
func (s Stream) takeKept(keep string, inv *inventory, first uint64, judge func(Message) Kind, found map[uint64]Message) error {
	entries, err := os.ReadDir(keep)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at what was set aside: %w", err)
	}
	for _, entry := range entries {
		name, _, ok := strings.Cut(entry.Name(), fileSuffix+".")
		number, err := strconv.ParseUint(name, 10, 32)
		if !ok || err != nil {
			continue
		}
		err = s.each(file{path: filepath.Join(keep, entry.Name())}, uint32(number), func(m Message) {
			_, known := found[m.Sequence]
			if here, there := inv.messages[m.Sequence]; !known && m.Sequence >= first && m.Sequence <= inv.last &&
				(!there || here.kind == Damaged) && judge(m) == Good {
				found[m.Sequence] = owned(m)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// owned is the message with bytes of its own.
func owned(m Message) Message {
	m.Head, m.Data = slices.Clone(m.Head), slices.Clone(m.Data)
	return m
}

// write puts the messages into the files in which they belong, and into new ones
// where files are missing.
func (s Stream) write(inv *inventory, found map[uint64]Message, keep string) error {
	into := map[uint32][]Message{}
	for _, m := range found {
		number := inv.place(m.Sequence)
		into[number] = append(into[number], m)
	}
	for number, messages := range into {
		slices.SortFunc(messages, func(a, b Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
		if err := s.merge(inv, number, messages, keep); err != nil {
			return err
		}
	}
	return nil
}

// place is the number of the file for a message: the one that holds its
// neighbours, or one that is free between them.
func (inv *inventory) place(sequence uint64) uint32 {
	before, next := -1, len(inv.files)
	for i, first := range inv.firsts {
		switch {
		case first == 0: // no messages to be sorted by
		case first <= sequence:
			before = i
		case next == len(inv.files):
			next = i
		}
	}
	if len(inv.files) == 0 {
		return 1
	}
	if before < 0 {
		return max(inv.files[next].number-1, 1)
	}
	here := inv.files[before].number
	behindAll := next < len(inv.files) && sequence > inv.lastOf(before, inv.firsts[next])
	if behindAll && inv.files[next].number > here+1 && inv.files[before].size > maxFile/2 {
		return here + 1
	}
	return here
}

// lastOf is the last message of a file, the next of which begins with next.
func (inv *inventory) lastOf(i int, next uint64) uint64 {
	for sequence := next - 1; sequence > inv.firsts[i]; sequence-- {
		if _, there := inv.messages[sequence]; there {
			return sequence
		}
	}
	return inv.firsts[i]
}

// merge writes a file with the messages it has and those it gets.
func (s Stream) merge(inv *inventory, number uint32, messages []Message, keep string) error {
	path := filepath.Join(s.folder, "msgs", strconv.FormatUint(uint64(number), 10)+fileSuffix)
	h := newHasher(s.Name, number)
	var content []byte
	i := slices.IndexFunc(inv.files, func(f file) bool { return f.number == number })
	if i >= 0 {
		old, ok, err := inv.files[i].read()
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s is compressed, which this version cannot mend", path)
		}
		if err := s.keep(path, old, keep); err != nil {
			return err
		}
		for _, r := range scanFile(old, h).records {
			if !r.gone() {
				for len(messages) > 0 && messages[0].Sequence < r.sequence {
					content = h.appendRecord(content, messages[0])
					messages = messages[1:]
				}
				if len(messages) > 0 && messages[0].Sequence == r.sequence {
					continue // the one that comes next takes its place
				}
			}
			content = append(content, old[r.at:r.at+r.size]...)
		}
	}
	for _, m := range messages {
		content = h.appendRecord(content, m)
	}
	return replace(path, content)
}

// keep sets a file aside.
func (s Stream) keep(path string, content []byte, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("set a file aside: %w", err)
	}
	name := filepath.Base(path) + "." + time.Now().UTC().Format("20060102T150405.000")
	return replace(filepath.Join(folder, name), content)
}
