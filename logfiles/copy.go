package logfiles

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"
)

// Copy is a place that may still hold messages which a stream has lost: another
// folder, or a server that has the stream.
type Copy interface {
	// Created is when the stream was made that this is a copy of.
	Created(ctx context.Context) (time.Time, error)
	// Next is the first message at a sequence or behind it that can be read. Its
	// bytes are valid until the next call.
	Next(ctx context.Context, from uint64) (m Message, found bool, err error)
}

// Copy reads the files once to know what stands where. No server may use them.
func (s Stream) Copy() (Copy, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	c := &folderCopy{stream: s, files: files, open: -1}
	for i, f := range files {
		_, records, err := s.records(f, f.number)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			c.index = append(c.index, spot{r, i})
		}
	}
	slices.SortStableFunc(c.index, func(a, b spot) int { return cmp.Compare(a.sequence, b.sequence) })
	return c, nil
}

// folderCopy is a copy in a folder.
type folderCopy struct {
	stream Stream
	files  []file
	index  []spot // by sequence; of two with the same one the first counts

	open    int // the file in content, -1 for none
	content []byte
}

// spot is where a message stands.
type spot struct {
	record
	file int
}

// Created is what the folder says.
func (c *folderCopy) Created(context.Context) (time.Time, error) { return c.stream.Created, nil }

// Next keeps one file in memory: who asks goes from the first sequence up.
func (c *folderCopy) Next(_ context.Context, from uint64) (m Message, found bool, err error) {
	i := sort.Search(len(c.index), func(i int) bool { return c.index[i].sequence >= from })
	if i == len(c.index) {
		return m, false, nil
	}
	at := c.index[i]
	if at.file != c.open {
		if c.content, _, err = c.files[at.file].read(); err != nil {
			return m, false, err
		}
		c.open = at.file
	}
	return message(c.content, at.record), true, nil
}
