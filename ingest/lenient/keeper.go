package lenient

import "strings"

const (
	// chunkSize is how much room a Keeper takes at once: about the texts of one
	// event. A text that is kept for long keeps its chunk.
	chunkSize = 4 << 10
	// ownSize is the length from which a text gets room of its own.
	ownSize = 512
)

// Keeper copies texts out of documents with one allocation for many. The zero
// Keeper is ready; it must not be copied and not be used concurrently.
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
