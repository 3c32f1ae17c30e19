package audit

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
)

// acknowledgement is the answer of JetStream to a publisher whose reply subject
// is the trail's.
const acknowledgement = `{"stream":"ERRORS","seq":1}`

// naming is the entry that names foreign messages, the first of which has the
// number n.
func naming(t *testing.T, n uint64, prev string, messages ...string) (sealed Entry, message []byte) {
	t.Helper()
	strange := foreignRun{sum: sha256.New()}
	for i, message := range messages {
		strange.add(n+uint64(i), sha256.Sum256([]byte(message)))
	}
	e := Entry{Action: ActionForeign, Request: encode(strange.names())}
	sealed, message, err := e.seal(n+uint64(len(messages)), prev)
	if err != nil {
		t.Fatal(err)
	}
	return sealed, message
}

// Foreign messages do not break the chain when the entry behind them names them
// and follows the entry before them. No change of an entry can be hidden in
// that way.
func TestChainGoesOnBehindMessagesOfOthers(t *testing.T) {
	good := sampleChain(t, 3)
	last, err := ParseEntry(good[1])
	if err != nil {
		t.Fatal(err)
	}
	_, named := naming(t, 3, last.Hash, acknowledgement, "x")
	_, atFirst := naming(t, 1, firstPrev, acknowledgement)
	_, other := naming(t, 3, last.Hash, acknowledgement, "y")
	_, fewer := naming(t, 4, last.Hash, "x")
	_, ofNothing := naming(t, 3, last.Hash)
	_, overwritten := naming(t, 2, mustParse(t, good[0]).Hash, acknowledgement)
	strange := [][]byte{[]byte(acknowledgement), []byte("x")}
	for _, c := range []struct {
		name              string
		messages          [][]byte
		broken            uint64 // 0: good
		reason            string
		foreign, verified uint64
	}{
		{"named", slices.Concat(good[:2], strange, [][]byte{named}), 0, "", 2, 5},
		{"before the first entry", [][]byte{strange[0], atFirst}, 0, "", 1, 2},
		{"not named yet", slices.Concat(good[:2], strange), 3, "canonical", 0, 2},
		{"an entry that names nothing follows", slices.Concat(good[:2], strange[:1], good[2:]), 3, "canonical", 0, 2},
		{"another one is named", slices.Concat(good[:2], strange, [][]byte{other}), 3, "canonical", 0, 2},
		{"not all are named", slices.Concat(good[:2], strange, [][]byte{fewer}), 3, "canonical", 0, 2},
		{"nothing is named", slices.Concat(good[:2], [][]byte{ofNothing}), 3, "not there", 0, 2},
		// Who writes over an entry must also write over what follows it.
		{"an entry is written over and its number named", slices.Concat(good[:1], strange[:1], [][]byte{overwritten}, good[2:]), 4, "", 0, 0},
		{"an entry is written over", slices.Concat(good[:1], strange[:1], good[2:]), 2, "canonical", 0, 1},
	} {
		r := verify(c.messages)
		switch {
		case c.broken == 0 && (r.Problem != nil || r.Foreign != c.foreign || r.Entries != c.verified):
			t.Errorf("%s: %+v, %+v", c.name, r, r.Problem)
		case c.broken > 0 && (r.Problem == nil || r.Problem.N != c.broken || !strings.Contains(r.Problem.Reason, c.reason)):
			t.Errorf("%s: %+v, want entry %d and %q", c.name, r.Problem, c.broken, c.reason)
		case c.verified > 0 && r.Entries != c.verified:
			t.Errorf("%s: %d are good, want %d", c.name, r.Entries, c.verified)
		}
	}
}

func mustParse(t *testing.T, message []byte) Entry {
	t.Helper()
	e, err := ParseEntry(message)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
