package lenient

import (
	"slices"
	"strings"
)

const (
	// chunkSize is how many bytes a Keeper allocates at once: about the texts of one
	// event. A text that stays in memory keeps its whole chunk there.
	chunkSize = 4 << 10
	// ownSize is the length from which a text gets an allocation of its own.
	ownSize = 512
)

// Keeper copies texts out of documents, many with one allocation. The zero Keeper is
// ready for use. It must not be copied or used concurrently.
type Keeper struct{ chunk strings.Builder }

// String is the text as a string that does not share memory with the document.
func (k *Keeper) String(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) >= ownSize:
		return string(text)
	case k.chunk.Cap()-k.chunk.Len() < len(text):
		k.chunk.Reset()
		k.chunk.Grow(chunkSize)
	}
	begin := k.chunk.Len()
	k.chunk.Write(text)
	return k.chunk.String()[begin:]
}

// Slab copies lists, many with one allocation. Size is how many elements it allocates at
// once; a list that stays in memory keeps all of them there. It must not be copied or used
// concurrently.
type Slab[T any] struct {
	Size int
	free []T
}

// Copy is a list of the same elements, nil for none. To append to it allocates.
func (s *Slab[T]) Copy(list []T) []T {
	n := len(list)
	switch {
	case n == 0:
		return nil
	case n > s.Size/2:
		return slices.Clip(slices.Clone(list))
	case n > len(s.free):
		s.free = make([]T, s.Size)
	}
	kept := s.free[:n:n]
	s.free = s.free[n:]
	copy(kept, list)
	return kept
}
