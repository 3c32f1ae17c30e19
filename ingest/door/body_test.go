package door_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// codings encode a body, by the value of Content-Encoding.
var codings = []struct {
	name, header string
	pack         func(w io.Writer) (io.WriteCloser, error)
}{
	{"none", "", nil},
	{"identity", "identity", nil},
	{"gzip", "gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"x-gzip", "x-gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"upper case", " GZIP ", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"zlib deflate", "deflate", func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	{"raw deflate", "deflate", func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) }},
	{"br", "br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 5), nil }},
	{"zstd", "zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}},
	{"zstd, 8 MiB window", "zstd", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20), zstd.WithSingleSegment(false))
	}},
}

func pack(t testing.TB, with func(io.Writer) (io.WriteCloser, error), content []byte) []byte {
	t.Helper()
	if with == nil {
		return content
	}
	var packed bytes.Buffer
	z, err := with(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// known is a sender whose key is known.
var known = door.Sender{Key: "key"}

// open reads a body to its end and returns its bytes.
func open(r *http.Request, o door.Options) ([]byte, error) {
	b, err := door.Open(httptest.NewRecorder(), r, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return io.ReadAll(b)
}

func request(content io.Reader, coding string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", content)
	if coding != "" {
		r.Header.Set("Content-Encoding", coding)
	}
	return r
}

func TestEveryCodingIsUndone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mixed := make([]byte, 300<<10) // half text, half noise, larger than all buffers
	for i := range mixed {
		if mixed[i] = 'a' + byte(i%26); i%2 == 0 {
			mixed[i] = byte(random.Uint32())
		}
	}
	for _, c := range codings {
		for name, content := range map[string][]byte{"small": []byte(`{"message":"x"}`), "empty": {}, "large": mixed} {
			packed := pack(t, c.pack, content)
			for form, reader := range map[string]io.Reader{
				"with a length": bytes.NewReader(packed), "chunked": io.MultiReader(bytes.NewReader(packed)),
				"byte by byte": iotest.OneByteReader(bytes.NewReader(packed)),
			} {
				if name == "large" && form == "byte by byte" {
					continue // takes seconds without a further result
				}
				got, err := open(request(reader, c.header), door.Options{Budget: door.NewBudget(0), Sender: known})
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s, %s, %s: %d bytes of %d, %v", c.name, name, form, len(got), len(content), err)
				}
			}
		}
	}
}

func TestUnknownAndSeveralCodingsAreRefused(t *testing.T) {
	for _, header := range []string{"lzma", "compress", "utf-8", "gzip, br", "gzip,gzip", "identity, gzip, deflate", "*"} {
		_, err := open(request(strings.NewReader("x"), header), door.Options{})
		if errata.KindOf(err) != errata.KindUnsupportedMediaType {
			t.Errorf("%q: %v", header, err)
		}
	}
	r := request(strings.NewReader("x"), "gzip")
	r.Header.Add("Content-Encoding", "gzip")
	if _, err := open(r, door.Options{}); errata.KindOf(err) != errata.KindUnsupportedMediaType {
		t.Errorf("two headers: %v", err)
	}
	for _, header := range []string{"", "identity", "identity, identity", ","} {
		if _, err := open(request(strings.NewReader("x"), header), door.Options{}); err != nil {
			t.Errorf("%q: %v", header, err)
		}
	}
}

func TestEveryCutBodyIsInvalid(t *testing.T) {
	content := []byte(strings.Repeat(`{"message":"order 42 failed","line":17}`, 20))
	for _, c := range codings {
		if c.pack == nil {
			continue
		}
		packed := pack(t, c.pack, content)
		for n := range packed {
			got, err := open(request(bytes.NewReader(packed[:n]), c.header), door.Options{})
			var told *errata.Error
			if !errors.As(err, &told) || told.Kind != errata.KindInvalidBody {
				t.Errorf("%s cut at %d of %d: %d bytes, %v", c.name, n, len(packed), len(got), err)
			}
		}
	}
}

func TestDamagedBodiesAreInvalid(t *testing.T) {
	content := []byte(strings.Repeat("some text that is long enough ", 50))
	gz := pack(t, codings[2].pack, content)
	badCRC := bytes.Clone(gz)
	badCRC[len(badCRC)-5] ^= 1
	zs := pack(t, codings[8].pack, content)
	badSum := bytes.Clone(zs)
	badSum[len(badSum)-1] ^= 1
	for name, c := range map[string]struct {
		header  string
		content []byte
	}{
		"gzip with a wrong checksum":   {"gzip", badCRC},
		"zstd with a wrong checksum":   {"zstd", badSum},
		"plain text called gzip":       {"gzip", content},
		"plain text called zstd":       {"zstd", content},
		"plain text called br":         {"br", []byte("{\"message\":\"plain\"}")},
		"gzip called zstd":             {"zstd", gz},
		"zstd called gzip":             {"gzip", zs},
		"gzip with junk behind it":     {"gzip", append(bytes.Clone(gz), "junk"...)},
		"gzip with a reserved method":  {"gzip", append([]byte{0x1f, 0x8b, 9}, gz[3:]...)},
		"a brotli with a large window": {"br", []byte{0x11, 0x10, 0x20}},
	} {
		if _, err := open(request(bytes.NewReader(c.content), c.header), door.Options{}); errata.KindOf(err) != errata.KindInvalidBody {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimits(t *testing.T) {
	// This text compresses about 10:1, so only its size can be the reason to refuse it.
	var text bytes.Buffer
	random := rand.New(rand.NewPCG(3, 4))
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, "{\"message\":\"order %d failed\",\"file\":\"/srv/app/main.go\"}\n", random.Uint32())
	}
	content := text.Bytes()
	gz := pack(t, codings[2].pack, content)
	f := func(name string, r *http.Request, o door.Options, want errata.Kind) {
		t.Helper()
		got, err := open(r, o)
		if want == "" {
			if err != nil || len(got) == 0 {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		} else if errata.KindOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	exact := int64(len(content))
	f("at the wire limit", request(bytes.NewReader(content), ""), door.Options{MaxWire: exact}, "")
	f("over it, announced", request(bytes.NewReader(content), ""), door.Options{MaxWire: exact - 1}, errata.KindBodyTooLarge)
	f("over it, chunked", request(io.MultiReader(bytes.NewReader(content)), ""), door.Options{MaxWire: exact - 1}, errata.KindBodyTooLarge)
	f("over it, packed", request(io.MultiReader(bytes.NewReader(gz)), "gzip"), door.Options{MaxWire: int64(len(gz)) - 1}, errata.KindBodyTooLarge)
	f("at the open limit", request(bytes.NewReader(gz), "gzip"), door.Options{MaxOpen: exact}, "")
	f("over it", request(bytes.NewReader(gz), "gzip"), door.Options{MaxOpen: exact - 1}, errata.KindBodyTooLarge)
	f("plain and over it", request(bytes.NewReader(content), ""), door.Options{MaxOpen: exact - 1}, errata.KindBodyTooLarge)
	f("client gone", request(io.MultiReader(bytes.NewReader(content[:9]), iotest.ErrReader(io.ErrUnexpectedEOF)), ""), door.Options{}, errata.KindInvalidBody)
	f("client gone, packed", request(io.MultiReader(bytes.NewReader(gz[:999]), iotest.ErrReader(io.ErrUnexpectedEOF)), "gzip"), door.Options{}, errata.KindInvalidBody)
}

// bomb is a compressed body of 4 MiB of blanks.
func bomb(t testing.TB, with func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	return pack(t, with, bytes.Repeat([]byte{' '}, 4<<20))
}

func TestBombsAreStoppedEarly(t *testing.T) {
	for _, c := range codings {
		if c.pack == nil || c.header == "x-gzip" || c.name == "upper case" {
			continue // another name of gzip
		}
		packed := bomb(t, c.pack)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := open(request(bytes.NewReader(packed), c.header), door.Options{})
		runtime.ReadMemStats(&after)
		if errata.KindOf(err) != errata.KindBodyTooLarge {
			t.Errorf("%s: %v", c.name, err)
		}
		if limit := ingest.MaxRatio*len(packed) + 1<<20; len(got) > limit {
			t.Errorf("%s: %d bytes came out of %d", c.name, len(got), len(packed))
		}
		// This includes the memory of the test's own io.ReadAll.
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: allocated %d MiB", c.name, took>>20)
		}
		t.Logf("%s: %d bytes on the wire, %d came out, %d KiB allocated", c.name, len(packed), len(got), (after.TotalAlloc-before.TotalAlloc)>>10)
	}
}

func TestNestedBombStaysPacked(t *testing.T) {
	inner := bomb(t, codings[2].pack)
	outer := pack(t, codings[2].pack, inner)
	got, err := open(request(bytes.NewReader(outer), "gzip"), door.Options{})
	if err != nil || !bytes.Equal(got, inner) {
		t.Errorf("%d bytes of %d, %v", len(got), len(inner), err)
	}
}

// A zstd frame may declare a window of terabytes in its first bytes.
func TestHugeWindowIsRefusedBeforeItIsAllocated(t *testing.T) {
	for name, frame := range map[string][]byte{
		"3.75 TiB":                {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0, 0, 0},
		"64 MiB":                  {0x28, 0xb5, 0x2f, 0xfd, 0x00, 16 << 3, 0, 0, 0},
		"1 GiB in one segment":    {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 0, 0, 0},
		"64 MiB in a later frame": append(pack(t, codings[8].pack, []byte("small")), 0x28, 0xb5, 0x2f, 0xfd, 0x00, 16<<3, 0, 0, 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := open(request(bytes.NewReader(frame), "zstd"), door.Options{Budget: door.NewBudget(0), Sender: known})
		runtime.ReadMemStats(&after)
		if errata.KindOf(err) != errata.KindBodyTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s: allocated %d bytes", name, took)
		}
	}
}

func TestReadAllBoundsAndCharges(t *testing.T) {
	budget := door.NewBudget(4 << 20)
	content := bytes.Repeat([]byte("x"), 1<<20)
	b, err := door.Open(httptest.NewRecorder(), request(bytes.NewReader(content), ""), door.Options{Budget: budget, Sender: known})
	if err != nil {
		t.Fatal(err)
	}
	buf := door.GetBuffer()
	if err := b.ReadAll(buf, len(content)); err != nil || !bytes.Equal(buf.B, content) {
		t.Errorf("%d bytes, %v", len(buf.B), err)
	}
	if budget.InUse() < int64(len(content)) {
		t.Errorf("%d bytes charged for %d", budget.InUse(), len(content))
	}
	buf.Free()
	b.Close()
	b.Close()
	if budget.InUse() != 0 {
		t.Errorf("%d bytes still charged after Close", budget.InUse())
	}
	if _, err := b.Read(make([]byte, 1)); err == nil {
		t.Error("a closed body can be read")
	}

	b, err = door.Open(httptest.NewRecorder(), request(bytes.NewReader(content), ""), door.Options{Budget: budget, Sender: known})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.ReadAll(door.GetBuffer(), len(content)-1); errata.KindOf(err) != errata.KindBodyTooLarge {
		t.Errorf("over the limit: %v", err)
	}
}

func FuzzDecompress(f *testing.F) {
	names := []string{"gzip", "deflate", "br", "zstd"}
	content := []byte(strings.Repeat(`{"message":"order 42 failed"}`, 30))
	for _, c := range codings {
		if c.pack != nil {
			for i, name := range names {
				if strings.Contains(c.header, name) {
					f.Add(uint8(i), pack(f, c.pack, content))
				}
			}
		}
	}
	f.Add(uint8(3), []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0, 0, 0})
	budget := door.NewBudget(64 << 20)
	f.Fuzz(func(t *testing.T, which uint8, packed []byte) {
		got, err := open(request(bytes.NewReader(packed), names[int(which)%len(names)]), door.Options{Budget: budget, MaxOpen: 1 << 20, Sender: known})
		if kind := errata.KindOf(err); err != nil && kind != errata.KindInvalidBody && kind != errata.KindBodyTooLarge {
			t.Errorf("%v", err)
		}
		if len(got) > 1<<20 {
			t.Errorf("%d bytes came out", len(got))
		}
		if budget.InUse() != 0 {
			t.Errorf("%d bytes still charged", budget.InUse())
		}
	})
}
