package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sampleChain is a chain of n entries with a bit of everything.
func sampleChain(t testing.TB, n int) [][]byte {
	t.Helper()
	var messages [][]byte
	prev := firstPrev
	for i := range n {
		e := Entry{
			Time: time.UnixMilli(1795231120683 + int64(i)).UTC(), Action: "settings.logging",
			Actor: Actor{KeyID: "000000000007", KeyName: "ada <ada@example.org> & \u2028é\x01", IP: "2001:db8::1"},
			Route: "PUT /api/v1/admin/tools/logs/settings", Scope: "Tools/UpdateLogSettings", RequestID: fmt.Sprint("r", i),
			Before: json.RawMessage(`{"b":1.50, "a":[1e3,-0,12345678901234567890]}`), Result: stored,
			Source: Source{"LOG", uint64(i + 3)}, Cursors: Cursors{uint64(i + 3), 2},
		}
		sealed, message, err := e.seal(uint64(i+1), prev)
		if err != nil {
			t.Fatal(err)
		}
		messages, prev = append(messages, message), sealed.Hash
	}
	return messages
}

// verify checks messages that stand from sequence 1 on.
func verify(messages [][]byte) Report {
	var c Chain
	for i, message := range messages {
		c.Add(uint64(i+1), message)
	}
	c.End(uint64(len(messages)))
	return c.Report()
}

// TestChainGolden pins the form of entries and their hash: a trail that is
// written today must stay good.
func TestChainGolden(t *testing.T) {
	const golden = "testdata/chain-v1.jsonl"
	got := append(bytes.Join(sampleChain(t, 3), []byte("\n")), '\n')
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the form of entries changed (-want +got):\n%s", diff)
	}
	if r := verify(bytes.Split(bytes.TrimSpace(want), []byte("\n"))); r.Problem != nil || r.Entries != 3 {
		t.Errorf("the golden chain: %+v, %+v", r, r.Problem)
	}
}

// TestEveryByteCounts changes each byte of an entry in the middle, in turn.
func TestEveryByteCounts(t *testing.T) {
	messages := sampleChain(t, 3)
	for i := range messages[1] {
		changed := slices.Clone(messages)
		changed[1] = bytes.Clone(messages[1])
		changed[1][i] ^= 1
		if r := verify(changed); r.Problem == nil || r.Problem.N != 2 || r.Entries != 1 {
			t.Fatalf("byte %d of entry 2 changed: found %+v after %d good entries\n%s", i, r.Problem, r.Entries, changed[1])
		}
	}
}

// resealed is entry n changed by somebody who knows how hashes are made.
func resealed(t *testing.T, message []byte, change func(*Entry)) []byte {
	t.Helper()
	e, err := ParseEntry(message)
	if err != nil {
		t.Fatal(err)
	}
	change(&e)
	_, sealed, err := e.seal(e.N, e.Prev)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestBrokenChains(t *testing.T) {
	good := sampleChain(t, 5)
	foreign := resealed(t, good[0], func(e *Entry) { e.Action = "x" })
	for _, c := range []struct {
		name     string
		messages [][]byte
		n        uint64
		reason   string
	}{
		{"the first is cut off", good[1:], 1, "wrong place"},
		{"one is cut out", slices.Concat(good[:2], good[3:]), 3, "wrong place"},
		{"two are exchanged", [][]byte{good[0], good[2], good[1], good[3]}, 2, "wrong place"},
		{"one stands twice", [][]byte{good[0], good[0]}, 2, "wrong place"},
		{"changed and sealed anew", [][]byte{foreign, good[1]}, 2, "does not follow"},
		{"renumbered", [][]byte{good[0], resealed(t, good[2], func(e *Entry) { e.N = 2 })}, 2, "does not follow"},
		{"a member twice", [][]byte{bytes.Replace(good[0], []byte(`{`), []byte(`{"action":"x",`), 1)}, 1, "canonical"},
		{"white space", [][]byte{append([]byte(" "), good[0]...)}, 1, "canonical"},
		{"no JSON", [][]byte{good[0], []byte("x")}, 2, "JSON"},
		{"an array", [][]byte{[]byte("[]")}, 1, "JSON"},
		{"null", [][]byte{[]byte("null")}, 1, "JSON"},
		{"no members", [][]byte{[]byte("{}")}, 1, "hash"},
		{"empty", [][]byte{{}}, 1, "JSON"},
	} {
		r := verify(c.messages)
		if r.Problem == nil || r.Problem.N != c.n || !strings.Contains(r.Problem.Reason, c.reason) {
			t.Errorf("%s: %+v, want entry %d and %q", c.name, r.Problem, c.n, c.reason)
		}
	}
	for n := range good[2] {
		if r := verify([][]byte{good[0], good[1], good[2][:n]}); r.Problem == nil || r.Problem.N != 3 {
			t.Errorf("entry 3 cut to %d bytes: %+v", n, r.Problem)
		}
	}
	var c Chain
	c.Add(1, good[0])
	c.Add(3, good[2])
	if r := c.Report(); r.Problem == nil || r.Problem.N != 2 {
		t.Errorf("sequence 2 is missing: %+v", r.Problem)
	}
	c = Chain{}
	c.Add(1, good[0])
	c.End(2)
	if r := c.Report(); r.Problem == nil || r.Problem.N != 2 || r.Entries != 1 {
		t.Errorf("the end is missing: %+v", r.Problem)
	}
}

// TestRequestsAreCut: whatever a command holds, its entry fits into a message
// and the chain is good.
func TestRequestsAreCut(t *testing.T) {
	long := make([]int, maxElements+1)
	text, err := json.Marshal(map[string]any{"signatures": long, "short": long[1:], "deep": []any{long}})
	if err != nil {
		t.Fatal(err)
	}
	first := strings.TrimSuffix(strings.Repeat("0,", maxElements), ",")
	want := fmt.Sprintf(`{"deep":[{"count":%[1]d,"first":[%[2]s]}],"short":[%[2]s],"signatures":{"count":%[1]d,"first":[%[2]s]}}`, maxElements+1, first)
	if got := string(requestPart(text)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, raw := range []string{"x", `{"a":`, `"` + strings.Repeat("a", maxPart) + `"`, "\xff"} {
		if got := string(requestPart([]byte(raw))); !strings.HasPrefix(got, fmt.Sprintf(`{"bytes":%d,"sha256":"`, len(raw))) {
			t.Errorf("%.20q: got %s", raw, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte {
			quoted, _ := json.Marshal(s)
			return quoted
		})).Draw(t, "body")
		e := Entry{Request: requestPart(raw), Before: part(raw), Actor: Actor{KeyName: string(raw)}}
		_, message, err := e.seal(1, firstPrev)
		if err != nil {
			t.Fatal(err)
		}
		if r := verify([][]byte{message}); r.Problem != nil {
			t.Fatalf("%+v\n%s", r.Problem, message)
		}
	})
}

// FuzzCheckEntry: no bytes make the check panic, and only sealed entries pass.
func FuzzCheckEntry(f *testing.F) {
	for _, message := range sampleChain(f, 2) {
		f.Add(message)
	}
	f.Add([]byte(`{"prev":1}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		var c Chain
		c.Add(1, message)
		c.End(1)
		if c.Report().Problem != nil {
			return
		}
		fields, err := decodeFields(message)
		if err != nil || fields["hash"] != c.Report().Head || fields["prev"] != firstPrev {
			t.Errorf("passes without its hash: %s", message)
		}
	})
}
