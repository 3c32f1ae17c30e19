package eventlog

import "hash/maphash"

// Texts are texts of events that were met lately. Many events have the same class, file and
// method, and a text that is met again takes no memory of its own. It must not be used
// concurrently. A nil Texts remembers nothing.
type Texts struct {
	seed maphash.Seed
	met  [textsMet]string // each at the place of its hash
}

// textsMet is how many texts are remembered: a list of them takes 16 KB, and they themselves take
// 200 KB if they are as long as messages are.
const textsMet = 1 << 10

// NewTexts returns Texts without any.
func NewTexts() *Texts { return &Texts{seed: maphash.MakeSeed()} }

// text is the text of the bytes.
func (t *Texts) text(bytes []byte) string {
	if t == nil || len(bytes) == 0 {
		return string(bytes)
	}
	met := &t.met[maphash.Bytes(t.seed, bytes)%textsMet]
	if *met != string(bytes) {
		*met = string(bytes)
	}
	return *met
}
