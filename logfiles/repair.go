package logfiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFile is how large a file of the server becomes at most, in bytes.
const maxFile = 8 << 20

// ErrOtherStream says that a copy is of another stream.
var ErrOtherStream = errors.New("the copy is of another log, or of one that was made anew")

// Repair puts lost messages of a stream back to their places, from copies, and
// returns how many. No server may use the files meanwhile. It uses the messages of
// a copy only up to the first sequence at which copy and stream have different
// messages: from there on the copy has another history. first is the sequence that
// the stream should begin with; judge is called for the messages of the copies.
// Copies of the changed files are kept in the folder keep. Nothing is changed
// before all copies were read. After it the Inventory is out of date.
func (inv *Inventory) Repair(ctx context.Context, first uint64, copies []Copy, keep string, judge func(Message) Kind) (restored int, err error) {
	s := inv.stream
	r := &repair{inv: inv, first: max(first, 1), judge: judge, found: map[uint64]Message{}}
	for _, from := range copies {
		created, err := from.Created(ctx)
		if err != nil {
			return 0, err
		}
		if !created.Equal(s.Created) {
			return 0, fmt.Errorf("%w: it was made %s, this one %s", ErrOtherStream, created.Format(time.RFC3339Nano), s.Created.Format(time.RFC3339Nano))
		}
		if err := r.takeFrom(ctx, from); err != nil {
			return 0, err
		}
	}
	if err := s.takeKept(keep, r); err != nil {
		return 0, err
	}
	if len(r.found) == 0 {
		return 0, nil
	}
	// Without the index the server reads the files again, also when writing them
	// fails in the middle.
	if err := s.dropIndex(); err != nil {
		return 0, err
	}
	return len(r.found), inv.write(r.found, keep)
}

// repair holds what a stream has, and what the copies had for it so far.
type repair struct {
	inv   *Inventory
	first uint64
	judge func(Message) Kind
	found map[uint64]Message
}

// sum is the checksum of a good message, of those found or of the stream.
func (r *repair) sum(sequence uint64) uint32 {
	if m, ok := r.found[sequence]; ok {
		return sumOf(m)
	}
	return r.inv.messages[sequence].sum
}

// good returns the sequences of all good messages, the lowest first.
func (r *repair) good() []uint64 {
	list := slices.Collect(maps.Keys(r.found))
	for sequence, here := range r.inv.messages {
		if here.kind == Good {
			list = append(list, sequence)
		}
	}
	slices.Sort(list)
	return list
}

// takeFrom adds the messages that a copy has and the stream lacks. It reads only
// these, and a few more to compare the copy with the stream.
func (r *repair) takeFrom(ctx context.Context, from Copy) error {
	good := r.good()
	end, err := r.agreed(ctx, from, good)
	if err != nil {
		return err
	}
	next := r.first
	for _, sequence := range good {
		if err := r.take(ctx, from, next, min(sequence, end)); err != nil {
			return err
		}
		next = max(next, sequence+1)
	}
	if err := r.take(ctx, from, next, min(r.inv.last+1, end)); err != nil {
		return err
	}
	// After its end the stream lacks only messages that follow without a gap.
	for next = max(next, r.inv.last+1); next < end; next++ {
		m, there, err := from.Next(ctx, next)
		if err != nil || !there || m.Sequence != next {
			return err
		}
		r.add(m)
	}
	return nil
}

// take adds what a copy has from sequence next to before end, where the stream has
// no good message.
func (r *repair) take(ctx context.Context, from Copy, next, end uint64) error {
	for next < end {
		m, there, err := from.Next(ctx, next)
		if err != nil || !there || m.Sequence >= end {
			return err
		}
		r.add(m)
		next = m.Sequence + 1
	}
	return nil
}

// add keeps a copy of a message if it is good.
func (r *repair) add(m Message) {
	if r.judge(m) == Good {
		m.Head, m.Data = slices.Clone(m.Head), slices.Clone(m.Data)
		r.found[m.Sequence] = m
	}
}

// agreed returns the first sequence from which the copy may have another history;
// all messages before it are the same. Both were only ever appended to, so after
// the first different message all others differ too, and a binary search among the
// sequences that both have finds it. After the end of the copy nothing can be
// compared.
func (r *repair) agreed(ctx context.Context, from Copy, good []uint64) (uint64, error) {
	end := ^uint64(0)
	for low, high := 0, len(good); low < high; {
		middle := (low + high) / 2
		at, m, err := r.both(ctx, from, good[:high], middle)
		if err != nil {
			return 0, err
		}
		switch {
		case m.Sequence == 0:
			end, high = good[middle], middle
		case at == high: // the copy has none of these
			high = middle
		case r.sum(m.Sequence) == sumOf(m):
			low = at + 1
		default:
			end, high = m.Sequence, middle
		}
	}
	return end, nil
}

// both finds the first message from index i of good on that the copy has too. The
// index is len(good) when there is none, and the message is also the zero one when
// the copy has ended.
func (r *repair) both(ctx context.Context, from Copy, good []uint64, i int) (int, Message, error) {
	for {
		m, there, err := from.Next(ctx, good[i])
		if err != nil || !there {
			return len(good), Message{}, err
		}
		n, same := slices.BinarySearch(good[i:], m.Sequence)
		if same && r.judge(m) == Damaged {
			n++
		}
		if i += n; i == len(good) || good[i] == m.Sequence {
			return i, m, nil
		}
	}
}

// takeKept adds what the copies of damaged files in the folder keep have.
func (s Stream) takeKept(keep string, r *repair) error {
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
			_, known := r.found[m.Sequence]
			if here, there := r.inv.messages[m.Sequence]; !known && m.Sequence >= r.first && m.Sequence <= r.inv.last &&
				(!there || here.kind == Damaged) {
				r.add(m)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// write puts the messages into the files in which they belong, or into new ones
// when files are missing.
func (inv *Inventory) write(found map[uint64]Message, keep string) error {
	into := map[uint32][]Message{}
	for _, m := range found {
		number := inv.place(m.Sequence)
		into[number] = append(into[number], m)
	}
	if err := os.MkdirAll(filepath.Join(inv.stream.folder, "msgs"), 0o700); err != nil {
		return fmt.Errorf("make the folder of the log's files: %w", err)
	}
	for number, messages := range into {
		slices.SortFunc(messages, func(a, b Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
		if err := inv.merge(number, messages, keep); err != nil {
			return err
		}
	}
	return nil
}

// place is the number of the file for a message: the file that has its neighbours,
// or a free number between them.
func (inv *Inventory) place(sequence uint64) uint32 {
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

// lastOf is the last sequence of file i, when the next file begins with next.
func (inv *Inventory) lastOf(i int, next uint64) uint64 {
	for sequence := next - 1; sequence > inv.firsts[i]; sequence-- {
		if _, there := inv.messages[sequence]; there {
			return sequence
		}
	}
	return inv.firsts[i]
}

// merge writes a file again, with its messages and the new ones.
func (inv *Inventory) merge(number uint32, messages []Message, keep string) error {
	path := filepath.Join(inv.stream.folder, "msgs", strconv.FormatUint(uint64(number), 10)+fileSuffix)
	h := newHasher(inv.stream.Name, number)
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
		if _, err := setAside(path, old, keep); err != nil {
			return err
		}
		for _, r := range scanFile(old, h).records {
			if !r.gone() {
				for len(messages) > 0 && messages[0].Sequence < r.sequence {
					content = h.appendRecord(content, messages[0])
					messages = messages[1:]
				}
				if len(messages) > 0 && messages[0].Sequence == r.sequence {
					continue // the new message replaces it
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

// setAside writes the content of a file into a folder, under its name and the
// time, and returns the path.
func setAside(path string, content []byte, folder string) (kept string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("set a file aside: %w", err)
	}
	kept = filepath.Join(folder, filepath.Base(path)+"."+time.Now().UTC().Format("20060102T150405.000"))
	return kept, replace(kept, content)
}
