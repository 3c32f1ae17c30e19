package eventlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/signature"
)

var update = flag.Bool("update", false, "write the golden files anew")

func goldenEvents() []errata.Event {
	at := time.UnixMilli(1795231120683).UTC()
	return []errata.Event{
		{
			ID: errata.NewEventID(7, "a"), Project: 7, Book: errata.BookDatabase,
			Signature: signature.Sign(signature.Identity{Book: errata.BookDatabase, Class: "PDOException"}),
			Level:     errata.LevelFatal, Time: at, Received: at.Add(time.Second),
			File: "src/Order.php", Line: 51, Message: "order 42 failed", Class: "PDOException",
			URI: "/checkout?page=2", Method: "POST", UserID: 1204, IP: netip.MustParseAddr("203.0.113.9"),
			ScrubVersion: 1, Payload: []byte(`{"source":"native"}`), Environment: "production", Release: "shop@1.4.2",
			Trail: errata.Trail{
				ClientID: "fc6d8c0c43fc4630ad850ee518f1b9d0", UserHash: 0xfedcba9876543210, User: "1204", Server: "web-1",
				Transaction: "POST /checkout", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
				Tags: []errata.Tag{{Key: "feature", Value: "checkout"}, {Key: "empty"}},
			},
		},
		{
			ID: errata.NewEventID(7, "b"), Book: errata.BookSystem, UserID: -1,
			Time: at, Received: at, IP: netip.MustParseAddr("2001:db8::1"), Message: "é\x00",
		},
	}
}

// TestBlockGolden checks the bytes of format 1: a log of today must stay readable
// for ever.
func TestBlockGolden(t *testing.T) {
	const golden = "testdata/block-v1-trail.hex"
	block, err := EncodeBlock(goldenEvents())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(hex.Dump(block)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), hex.Dump(block)); diff != "" {
		t.Errorf("format 1 changed (-want +got):\n%s", diff)
	}
	if got := decodeAll(t, block); !cmp.Equal(goldenEvents(), got, eventOptions) {
		t.Errorf("decoded events differ:\n%s", cmp.Diff(goldenEvents(), got, eventOptions))
	}
}

// TestOldBlocks: blocks of versions whose events end with the payload, or with
// environment and release. The payload says then what they lack.
func TestOldBlocks(t *testing.T) {
	for _, file := range []string{"testdata/block-v1.hex", "testdata/block-v1-deployment.hex"} {
		dump, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := goldenEvents()
		want[0].Trail = errata.Trail{User: "1204"}
		if file == "testdata/block-v1.hex" {
			want[0].Environment, want[0].Release = "", ""
		}
		if got := decodeAll(t, undump(t, string(dump))); !cmp.Equal(want, got, eventOptions) {
			t.Errorf("%s: decoded events differ:\n%s", file, cmp.Diff(want, got, eventOptions))
		}
	}
}

// undump is the inverse of hex.Dump.
func undump(t *testing.T, dump string) (data []byte) {
	for line := range strings.Lines(dump) {
		_, line, _ = strings.Cut(line, "  ")
		line, _, _ = strings.Cut(line, "|")
		bytes, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
		if err != nil && strings.TrimSpace(line) != "" {
			t.Fatal(err)
		}
		data = append(data, bytes...)
	}
	return data
}

var eventOptions = cmp.Options{cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()}

func decodeAll(t interface{ Fatal(...any) }, data []byte) []errata.Event {
	block, err := DecodeBlock(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var events []errata.Event
	block.Entries(func(i int, e Entry) {
		ev, err := e.Event()
		if err != nil {
			t.Fatal(err)
		}
		if o := e.Origin(); o.Project != ev.Project || string(o.Class) != ev.Class || string(o.Environment) != ev.Environment || string(o.Release) != ev.Release ||
			!cmp.Equal(o.Trail(), ev.Trail) {
			t.Fatal("the origin of entry", i, "is", fmt.Sprintf("%+v", o), "and the event", fmt.Sprintf("%+v", ev))
		}
		if i != len(events) || e.ID != block.ID(i) {
			t.Fatal("entry out of order", i)
		}
		events = append(events, ev)
	})
	return events
}

func drawEvent(t *rapid.T) errata.Event {
	ms := rapid.Int64Range(-1e12, 4e12)
	e := errata.Event{
		Project: rapid.Uint64().Draw(t, "project"), Book: rapid.SampledFrom(errata.Books).Draw(t, "book"),
		Level: errata.Level(rapid.IntRange(0, 7).Draw(t, "level")),
		Time:  time.UnixMilli(ms.Draw(t, "time")).UTC(), Received: time.UnixMilli(ms.Draw(t, "received")).UTC(),
		File: rapid.String().Draw(t, "file"), Line: rapid.Uint32().Draw(t, "line"),
		Message: rapid.String().Draw(t, "message"), Class: rapid.String().Draw(t, "class"),
		URI: rapid.String().Draw(t, "uri"), Method: rapid.String().Draw(t, "method"),
		UserID: rapid.Int64().Draw(t, "user"), ScrubVersion: rapid.Uint32().Draw(t, "scrub"),
		Payload:     rapid.SliceOf(rapid.Byte()).Draw(t, "payload"),
		Environment: rapid.String().Draw(t, "environment"), Release: rapid.String().Draw(t, "release"),
		Mute: rapid.Bool().Draw(t, "mute"), Noise: rapid.Bool().Draw(t, "noise"),
		Trail: drawTrail(t),
	}
	copy(e.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	copy(e.Signature[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "signature"))
	switch rapid.IntRange(0, 2).Draw(t, "ip") {
	case 1:
		e.IP = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4")))
	case 2:
		e.IP = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6"))).Unmap()
	}
	return e
}

func TestBlockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 1, 20).Draw(t, "events")
		data, err := EncodeBlock(events)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeAll(t, data); !cmp.Equal(events, got, eventOptions) {
			t.Fatal(cmp.Diff(events, got, eventOptions))
		}
		ids, err := BlockIDs(data)
		if err != nil || ids.Len() != len(events) || ids.Received != events[0].Received.UnixMilli() || ids.ID(0) != events[0].ID {
			t.Fatalf("BlockIDs: %v, %v", ids, err)
		}
	})
}

// TestMarksOfNoiseRules: they stand in two bits of the book's byte, and change nothing
// else of an event; the two bits between them and the book must be 0.
func TestMarksOfNoiseRules(t *testing.T) {
	plain := goldenEvents()[0]
	const at = lengthSize // the byte of the book
	bytesOf := func(e errata.Event) []byte {
		data, err := appendEvent(nil, &e)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := bytesOf(plain)
	for marks, e := range map[byte]errata.Event{0: plain, 1 << 6: {Mute: true}, 1 << 7: {Noise: true}, 3 << 6: {Mute: true, Noise: true}} {
		marked := plain
		marked.Mute, marked.Noise = e.Mute, e.Noise
		got := bytesOf(marked)
		if got[at] != byte(plain.Book)|marks {
			t.Errorf("mute %v, noise %v: the book's byte is %#x", e.Mute, e.Noise, got[at])
		}
		if entry, _, err := parseEntry(plain.ID, got); err != nil || entry.Book != plain.Book {
			t.Errorf("mute %v, noise %v: book %v, %v", e.Mute, e.Noise, entry.Book, err)
		} else if ev, err := entry.Event(); err != nil || !cmp.Equal(marked, ev, eventOptions) {
			t.Error(cmp.Diff(marked, ev, eventOptions), err)
		}
		if got[at] = want[at]; !bytes.Equal(got, want) {
			t.Errorf("mute %v, noise %v: other bytes changed too", e.Mute, e.Noise)
		}
	}
	for _, bit := range []byte{1 << 4, 1 << 5} {
		broken := bytesOf(plain)
		broken[at] |= bit
		if _, _, err := parseEntry(plain.ID, broken); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %#x: %v", bit, err)
		}
	}
}

// TestBlockDamaged cuts a block at every byte and flips every bit: each must be
// refused, and none may panic.
func TestBlockDamaged(t *testing.T) {
	block, err := EncodeBlock(goldenEvents())
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, at int, data []byte) {
		t.Helper()
		if _, err := DecodeBlock(data, nil); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s %d: got %v, want ErrCorrupt", what, at, err)
		}
	}
	for n := range block {
		refuse("cut at", n, block[:n])
	}
	for bit := range 8 * len(block) {
		damaged := bytes.Clone(block)
		damaged[bit/8] ^= 1 << (bit % 8)
		refuse("bit", bit, damaged)
	}
}

func TestEncodeBlockRefuses(t *testing.T) {
	if _, err := EncodeBlock(nil); err == nil {
		t.Error("an empty block was encoded")
	}
	if _, err := EncodeBlock(make([]errata.Event, errata.MaxBlockEvents+1)); err == nil {
		t.Error("a block of too many events was encoded")
	}
	if _, err := EncodeBlock([]errata.Event{{Payload: make([]byte, MaxEventSize)}}); !errors.Is(err, ErrEventTooLarge) {
		t.Errorf("too large an event: got %v", err)
	}
}

// FuzzDecodeBlock: decoding returns for any bytes. The test sets the right
// checksum, so that the parser after it runs.
func FuzzDecodeBlock(f *testing.F) {
	block, err := EncodeBlock(goldenEvents())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(block[:len(block)-checksumSize])
	f.Add([]byte(blockMagic + "\x01"))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := DecodeBlock(withChecksum(body), nil)
		if err != nil {
			return
		}
		n := 0
		b.Entries(func(_ int, e Entry) {
			n++
			_, _ = e.Event() // may be refused, must not panic
			_ = e.Origin()
		})
		if n != b.Len() {
			t.Fatalf("%d entries of %d", n, b.Len())
		}
	})
}

func withChecksum(body []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
}
