package body

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
)

// coding is a content coding that can be undone.
type coding string

const (
	identity coding = "identity"
	gzipped  coding = "gzip"
	deflated coding = "deflate"
	brotlied coding = "br"
	zstded   coding = "zstd"
)

const (
	// sourceSize is the read buffer before a decompressor. Most bodies fit.
	sourceSize = 8 << 10
	// maxPooledOutput is how much a decompressor may have given and still be
	// kept: brotli's ring buffer grows with its output.
	maxPooledOutput = 256 << 10
	// pooledWindow bounds the zstd windows that are kept between requests.
	// SDKs send single frames whose window is the size of the event.
	pooledWindow = 256 << 10
	// maxWindow is the largest zstd window taken. RFC 8878 asks receivers for
	// 8 MiB; a frame may declare terabytes.
	maxWindow = 8 << 20
	// blockSpace is what the zstd decoder holds beside its window.
	blockSpace = 256 << 10
)

// codingOf reads Content-Encoding. Only one coding is undone: two are how
// bombs are nested, and no SDK sends them.
func codingOf(h http.Header) (coding, error) {
	found := identity
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			var c coding
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "", "identity":
				continue
			case "gzip", "x-gzip":
				c = gzipped
			case "deflate":
				c = deflated
			case "br":
				c = brotlied
			case "zstd":
				c = zstded
			default:
				return identity, errata.Errorf(errata.KindUnsupportedMediaType,
					"the content encoding is not known; use gzip, deflate, br, zstd or none")
			}
			if found != identity {
				return identity, errata.Errorf(errata.KindUnsupportedMediaType, "only one content encoding is taken")
			}
			found = c
		}
	}
	return found, nil
}

// openCoding puts the decompressor in front of the wire and pays for its window.
func (b *Body) openCoding(r *http.Request) error {
	if b.coding == identity {
		b.open = &b.wire
		return nil
	}
	b.src = getSource(&b.wire)
	window, err := b.window()
	if err != nil {
		return err
	}
	if err := b.budget.acquire(r.Context(), window); err != nil {
		return err
	}
	b.decoder = window
	switch b.coding {
	case gzipped:
		b.open, b.done, err = openGzip(b.src)
	case deflated:
		b.open, b.done, err = openDeflate(b.src)
	case brotlied:
		b.open, b.done, err = openBrotli(b.src)
	default:
		b.open, b.done, err = openZstd(b.src, window-blockSpace)
	}
	return err
}

// window is the memory in bytes that the decompressor will take at most, read
// from the first bytes. gzip and deflate have 32 KiB, within the base charge.
func (b *Body) window() (int64, error) {
	switch b.coding {
	case brotlied:
		return brotliWindow(b.src)
	case zstded:
		return zstdWindow(b.src)
	default:
		return 0, nil
	}
}

func openGzip(src *bufio.Reader) (io.Reader, func(bool), error) {
	z, _ := gzipPool.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	if err := z.Reset(src); err != nil {
		gzipPool.Put(z)
		return nil, nil, err
	}
	return z, func(bool) { gzipPool.Put(z) }, nil
}

// openDeflate tells zlib from raw deflate by the first two bytes: RFC 9110
// means zlib, but some clients send raw.
func openDeflate(src *bufio.Reader) (io.Reader, func(bool), error) {
	pool, fresh := &flatePool, newFlate
	if head, err := src.Peek(2); err == nil && head[0]&15 == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		pool, fresh = &zlibPool, zlib.NewReader
	}
	z, _ := pool.Get().(io.ReadCloser)
	if z == nil {
		z, err := fresh(src)
		if err != nil {
			return nil, nil, err
		}
		return z, func(bool) { pool.Put(z) }, nil
	}
	if err := z.(flate.Resetter).Reset(src, nil); err != nil {
		pool.Put(z)
		return nil, nil, err
	}
	return z, func(bool) { pool.Put(z) }, nil
}

func newFlate(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }

func openBrotli(src *bufio.Reader) (io.Reader, func(bool), error) {
	z, _ := brotliPool.Get().(*brotli.Reader)
	if z == nil {
		z = new(brotli.Reader)
	}
	if err := z.Reset(src); err != nil {
		return nil, nil, err
	}
	return z, func(keep bool) {
		if keep {
			brotliPool.Put(z)
		}
	}, nil
}

func openZstd(src *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	if window > pooledWindow {
		z, err := newZstd(uint64(window))
		if err != nil {
			return nil, nil, err
		}
		return z, func(bool) { z.Close() }, z.Reset(src)
	}
	z, _ := zstdPool.Get().(*zstd.Decoder)
	if z == nil {
		var err error
		if z, err = newZstd(pooledWindow); err != nil {
			return nil, nil, err
		}
	}
	if err := z.Reset(src); err != nil {
		return nil, nil, err
	}
	return z, func(bool) { _ = z.Reset(nil); zstdPool.Put(z) }, nil
}

// newZstd makes a decoder that starts no goroutine, so the collector can take
// it when the pool drops it.
func newZstd(window uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecoderMaxMemory(window))
}

// zstdWindow reads the window that the first frame asks for. A later frame
// that asks for more is refused by the decoder.
func zstdWindow(src *bufio.Reader) (int64, error) {
	head, _ := src.Peek(zstd.HeaderMaxSize) // fewer bytes may do
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return 0, err
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	if window > maxWindow {
		return 0, zstd.ErrWindowSizeExceeded
	}
	if window <= pooledWindow {
		window = pooledWindow
	}
	return int64(window) + blockSpace, nil
}

// brotliWindow reads the window size from the stream header (RFC 7932, 9.1):
// 16 bits of window as "0", 18 to 24 and 17 and 10 to 15 as longer codes.
func brotliWindow(src *bufio.Reader) (int64, error) {
	head, err := src.Peek(1)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	bits := head[0]
	switch {
	case bits&1 == 0:
		return 1 << 16, nil
	case bits&0x0e != 0:
		return 1 << (17 + (bits >> 1 & 7)), nil
	case bits&0x70 == 0:
		return 1 << 17, nil
	default:
		return 1 << (8 + (bits >> 4 & 7)), nil
	}
}

func isWindowTooLarge(err error) bool {
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeTooSmall) ||
		errors.Is(err, zstd.ErrDecoderSizeExceeded)
}

var gzipPool, flatePool, zlibPool, brotliPool, zstdPool, sourcePool sync.Pool

func getSource(r io.Reader) *bufio.Reader {
	src, _ := sourcePool.Get().(*bufio.Reader)
	if src == nil {
		src = bufio.NewReaderSize(nil, sourceSize)
	}
	src.Reset(r)
	return src
}

func putSource(src *bufio.Reader) {
	src.Reset(nil)
	sourcePool.Put(src)
}
