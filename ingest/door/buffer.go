package door

import (
	"io"
	"sync"

	errata "github.com/errata-log/errata"
)

const (
	// bufferSize is the capacity of a new buffer: most events fit.
	bufferSize = 32 << 10
	// maxPooledBuffer bounds the capacity of a pooled buffer. One event fits. Larger
	// buffers are rare and left to the garbage collector.
	maxPooledBuffer = 1 << 20
)

// Buffer is a pooled byte buffer. Its bytes must not be used after Free.
type Buffer struct{ B []byte }

var bufferPool = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, bufferSize)} }}

// GetBuffer takes an empty buffer from the pool.
func GetBuffer() *Buffer { return bufferPool.Get().(*Buffer) }

// Free gives the buffer back to the pool.
func (b *Buffer) Free() {
	if cap(b.B) <= maxPooledBuffer {
		b.B = b.B[:0]
		bufferPool.Put(b)
	}
}

// ReadAll appends the rest of the body to buf, at most limit bytes, and charges
// the growth of buf. Errors are those of Read, and body_too_large.
//
// When a quarter of the greatest possible length is there, the buffer grows to the
// whole length at once: doubling it up to 32 MiB would hold three times as much. It
// does not do so earlier: a sender must not take memory by announcing a length.
func (b *Body) ReadAll(buf *Buffer, limit int) error {
	whole := min(int(b.most), limit) + 1 // room to see the end
	for {
		if length := len(buf.B); length == cap(buf.B) {
			more := 1
			if length >= whole/4 {
				more = max(1, whole-length)
			}
			if err := b.Grow(buf, more); err != nil {
				return err
			}
		}
		n, err := b.Read(buf.B[len(buf.B):cap(buf.B)])
		buf.B = buf.B[:len(buf.B)+n]
		if len(buf.B) > limit {
			return tooLarge(int64(limit), "after decompression")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Grow makes room for n more bytes in buf and charges the growth to the body.
func (b *Body) Grow(buf *Buffer, n int) error {
	need := len(buf.B) + n
	if need <= cap(buf.B) {
		return nil
	}
	size := max(2*cap(buf.B), need)
	if err := b.Charge(size); err != nil {
		return err
	}
	grown := make([]byte, len(buf.B), size)
	copy(grown, buf.B)
	buf.B = grown
	return nil
}

// PartTooLarge is the error for a part of a body that is over its own limit.
func PartTooLarge(what string, limit int) *errata.Error {
	return errata.Errorf(errata.KindBodyTooLarge, "%s is larger than %d bytes", what, limit)
}
