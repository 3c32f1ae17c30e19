package logfiles

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"
)

// Copy is a copy of a stream, in another folder or on a server. It may have
// messages that the stream has lost.
type Copy interface {
	// Created is when the stream was made of which this is a copy.
	Created(ctx context.Context) (time.Time, error)
	// Next returns the first readable message at a sequence or after it. Its bytes
	// are valid until the next call.
	Next(ctx context.Context, from uint64) (m Message, found bool, err error)
}

// Copy reads the files once, and keeps where each message is. No server may use the
// files meanwhile.
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
	index  []spot // by sequence; of two messages with the same one the first counts

	open    int // index of the file in content, -1 for none
	content []byte
}

// spot is the file of a message and its place in it.
type spot struct {
	record
	file int
}

// Created returns the time that the folder of the stream says.
func (c *folderCopy) Created(context.Context) (time.Time, error) { return c.stream.Created, nil }

// Next keeps one file in memory: sequences are asked for in rising order.
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
