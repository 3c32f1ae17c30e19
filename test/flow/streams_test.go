package flow

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// cutStreams are compressed events cut after every byte.
func cutStreams(t *testing.T) (all []attempt) {
	for _, c := range codings {
		for d, body := range map[receiver][]byte{native: []byte(nativeEvent), envelope: eventEnvelope(sentryEvent), store: []byte(sentryEvent), logsJSON: []byte(otlpLogs)} {
			whole := packed(t, c.writer, body)
			for n := range whole {
				if d != native && n%5 != 0 && n < len(whole)-16 {
					continue // one receiver with every byte is enough
				}
				all = append(all, attempt{class: c.name + " cut", name: fmt.Sprintf("at %d of %d", n, len(whole)), receiver: d, body: whole[:n], header: []string{"Content-Encoding", c.header}})
			}
		}
	}
	whole := base64.StdEncoding.EncodeToString(packed(t, codings[1].writer, []byte(sentryEvent)))
	for n := range len(whole) - 2 { // two bytes of padding change nothing
		all = append(all, attempt{class: "base64 of zlib cut", name: fmt.Sprint("at ", n), receiver: store, body: []byte(whole[:n])})
	}
	return all
}

// wrongCodings name one encoding and use another.
func wrongCodings(t *testing.T) (all []attempt) {
	for d, body := range map[receiver][]byte{native: []byte(nativeEvent), envelope: eventEnvelope(sentryEvent), store: []byte(sentryEvent), logsJSON: []byte(otlpLogs)} {
		say := func(class, name string, body []byte, coding string) {
			a := attempt{class: class, name: name, receiver: d, body: body}
			if coding != "" {
				a.header = []string{"Content-Encoding", coding}
			}
			all = append(all, a)
		}
		for _, unknown := range []string{"compress", "lzma", "bzip2", "utf-8", "gzip;q=1", "gzip, gzip", "gzip,br", "zstd, identity, gzip", "\"gzip\"", strings.Repeat("x", 1000)} {
			say("unknown encoding", unknown, gzipped(t, body), unknown)
		}
		for _, c := range codings {
			whole := packed(t, c.writer, body)
			say("not in the encoding it says", "plain as "+c.name, body, c.header)
			say("compressed and not saying so", c.name, whole, "")
			say("junk behind a stream", c.name, append(bytes.Clone(whole), "junk"...), c.header)
			if c.header == "deflate" { // the stream ends there, and nothing reads further
				all[len(all)-1].class, all[len(all)-1].want = "junk behind deflate, not read", taken
			}
			say("compressed twice", c.name, packed(t, c.writer, whole), c.header)
			for _, other := range codings {
				if other.header != c.header {
					say("not in the encoding it says", c.name+" as "+other.header, whole, other.header)
				}
			}
			if !c.checked && d == logsJSON {
				continue // its answer does not say whether the damage was seen
			}
			for i := 0; i < len(whole); i += 1 + len(whole)/20 {
				broken := bytes.Clone(whole)
				broken[i] ^= 0x55
				if say("damaged "+c.name, fmt.Sprint("byte ", i), broken, c.header); !c.checked {
					all[len(all)-1].want = either
				}
			}
		}
	}
	return all
}

// bombs are small and unpack to much: a long text in an event or in an ignored
// item, or blanks.
func bombs(t *testing.T) (all []attempt) {
	const mib = 1 << 20
	blanks, text := bytes.Repeat([]byte(" "), mib), bytes.Repeat([]byte("a"), mib)
	frame := func(content []byte) []byte { return packed(t, codings[4].writer, content) }
	kinds := []struct {
		name, coding string
		body         func(prefix string) []byte
	}{
		// Members and frames may follow each other, so each copy costs nothing.
		{"1 GiB of text", "gzip", func(prefix string) []byte {
			return append(gzipped(t, []byte(prefix)), bytes.Repeat(gzipped(t, text), 1024)...)
		}},
		{"1 GiB of blanks", "gzip", func(string) []byte { return bytes.Repeat(gzipped(t, blanks), 1024) }},
		{"16 GiB of text", "zstd", func(prefix string) []byte {
			return append(frame([]byte(prefix)), bytes.Repeat(frame(text), 16<<10)...)
		}},
		{"a window of 2 GiB", "zstd", func(string) []byte { return []byte("\x28\xb5\x2f\xfd\x00\xa8\x00\x00\x00") }},
		{"a window of 1 TiB", "zstd", func(string) []byte { return []byte("\x28\xb5\x2f\xfd\x00\xf0\x00\x00\x00") }},
		{"one long frame", "zstd", func(prefix string) []byte { return long(t, largeFrame, prefix, text, 8) }},
		{"one long stream", "deflate", func(prefix string) []byte { return long(t, codings[1].writer, prefix, text, 8) }},
		{"one long raw stream", "deflate", func(prefix string) []byte { return long(t, codings[2].writer, prefix, text, 8) }},
		{"one long stream", "br", func(prefix string) []byte { return long(t, fastBrotli, prefix, text, 8) }},
	}
	for _, kind := range kinds {
		event, skipped := kind.body(`{"message":"`), kind.body("{}\n{\"type\":\"attachment\"}\n")
		for d, body := range map[receiver][]byte{native: event, store: event, envelope: skipped, logsJSON: event, logs: event} {
			all = append(all, attempt{class: "bomb, " + kind.coding, name: kind.name, receiver: d, body: body, header: []string{"Content-Encoding", kind.coding}})
		}
	}
	zipped := packed(t, codings[1].writer, bytes.Repeat(text, 8))
	return append(all, attempt{class: "bomb, base64 of zlib", name: "8 MiB of text", receiver: store, body: []byte(base64.StdEncoding.EncodeToString(zipped))})
}

func fastBrotli(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 4), nil }

func largeFrame(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
}

// long compresses a prefix and n times the content.
func long(t *testing.T, writer func(w io.Writer) (io.WriteCloser, error), prefix string, content []byte, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := writer(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, prefix); err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := z.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
