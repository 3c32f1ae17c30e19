package projector

import (
	"encoding/binary"
	"sync"

	errata "github.com/errata-log/errata"
)

// presence is a Bloom filter of the records that exist. Its "no" is certain, and
// saves the look-up of a new record. Its "yes" may be wrong, for one key in a
// thousand and after deletes, and costs a look-up. It grows by layers, each twice
// as large as the one before. 10 million records take 30 MB. Several goroutines may use it
// at a time.
type presence struct {
	mu     sync.RWMutex
	layers []presenceLayer
}

type presenceLayer struct {
	bits     []uint64
	capacity int
	used     int
}

const (
	// A wrong "yes" costs a look-up of 0.2 ms of a processor. With 10 bits for each
	// key, these were most of the work of folding a million new records.
	presenceBitsPerKey = 16
	presenceProbes     = 8 // 0.06 % of the answers "yes" are wrong
	presenceFirstLayer = 1 << 17
)

// add notes that the record exists.
func (p *presence) add(h hashes) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.layers); n == 0 || p.layers[n-1].used >= p.layers[n-1].capacity {
		capacity := presenceFirstLayer << n
		p.layers = append(p.layers, presenceLayer{
			bits: make([]uint64, capacity*presenceBitsPerKey/64), capacity: capacity,
		})
	}
	layer := &p.layers[len(p.layers)-1]
	layer.used++
	for i := range uint64(presenceProbes) {
		bit := (h.a + i*h.b) % uint64(len(layer.bits)*64)
		layer.bits[bit/64] |= 1 << (bit % 64)
	}
}

// mayHave is false when the record certainly does not exist.
func (p *presence) mayHave(h hashes) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, layer := range p.layers {
		if layer.has(h) {
			return true
		}
	}
	return false
}

func (l presenceLayer) has(h hashes) bool {
	for i := range uint64(presenceProbes) {
		bit := (h.a + i*h.b) % uint64(len(l.bits)*64)
		if l.bits[bit/64]&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

// hashes are two independent hashes of a record's key. A signature is a part of a
// SHA-256 and needs no further hashing.
type hashes struct{ a, b uint64 }

func (k recordKey) hashes() hashes {
	return hashesOf(k.book, binary.LittleEndian.Uint64(k.signature[:8]), binary.LittleEndian.Uint64(k.signature[8:]))
}

// hashesOf makes the hashes of a book and the two halves of a signature. b is
// odd, so that the probes differ.
func hashesOf(book errata.Book, front, back uint64) hashes {
	return hashes{front + uint64(book), back | 1}
}
