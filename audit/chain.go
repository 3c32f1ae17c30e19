package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
)

// Problem is the first entry that breaks a chain.
type Problem struct {
	N uint64 `json:"n"`
	// Reason is a sentence for a person.
	Reason string `json:"reason"`
}

// Report is what checking a chain found.
type Report struct {
	// Entries is the number up to which all entries are good.
	Entries uint64 `json:"entries"`
	// Head is the hash of the last good entry. A copy that is kept elsewhere
	// shows later that nothing up to here was rewritten.
	Head string `json:"head"`
	// Foreign is how many messages up to there are no entries: somebody else has
	// put them into the trail. The entry behind them names them.
	Foreign uint64 `json:"foreign"`
	// Problem is nil when the whole chain is good.
	Problem *Problem `json:"problem"`
}

// Chain checks entries one after another. Its zero value expects the first.
//
// A message that is no entry does not break the chain, if the next entry names
// it and follows the entry before it. An entry that was changed breaks the
// chain: the next entry follows what it was before.
type Chain struct {
	report  Report
	seen    uint64 // the number of the last message
	foreign foreignRun
	reason  string // why the first foreign message is no entry
}

// Add checks the message at sequence n of the trail. After the first problem it
// ignores the message and returns false.
func (c *Chain) Add(n uint64, message []byte) bool {
	if c.report.Problem != nil {
		return false
	}
	if want := c.seen + 1; n != want {
		return c.fail(want, fmt.Sprintf("it is missing: entry %d follows entry %d", n, want-1))
	}
	c.seen = n
	fields, hash, problem := sealedAt(message, n)
	if problem != "" {
		if c.foreign.first == 0 {
			c.reason = problem
		}
		c.foreign.add(n, sha256.Sum256(message))
		return true
	}
	prev := c.report.Head
	if prev == "" {
		prev = firstPrev
	}
	if fields["prev"] != prev {
		return c.fail(n, "it does not follow the entry before it: one of the two was exchanged")
	}
	if named := fields["action"] == ActionForeign; named != (c.foreign.first > 0) || named && !c.foreign.namedBy(fields) {
		return c.fail(n, "it names messages of others that are not there")
	}
	c.report.Foreign += c.foreign.count()
	c.report.Entries, c.report.Head, c.foreign = n, hash, foreignRun{}
	return true
}

// End says that the trail should reach to entry last.
func (c *Chain) End(last uint64) {
	if c.report.Problem == nil && c.seen < last {
		c.fail(c.seen+1, fmt.Sprintf("it is missing: the trail reaches to entry %d", last))
	}
	if c.report.Problem == nil && c.foreign.first > 0 {
		c.fail(c.seen, "")
	}
}

// Report is what was found so far.
func (c *Chain) Report() Report { return c.report }

// fail notes the first problem and returns false. Foreign messages that no
// entry has named are the first problem.
func (c *Chain) fail(n uint64, reason string) bool {
	if c.foreign.first > 0 {
		n, reason = c.foreign.first, c.reason
	}
	c.report.Problem = &Problem{N: n, Reason: reason}
	return false
}

// sealedAt returns the fields and the hash of the message when it is the entry
// n as it was sealed; otherwise problem says what is wrong.
func sealedAt(message []byte, n uint64) (fields map[string]any, hash, problem string) {
	fields, err := decodeFields(message)
	if err != nil {
		return nil, "", "it was changed: it is no JSON object"
	}
	// Bytes that the hash does not see, such as white space or a member that
	// stands twice, are a change too.
	if form, err := canonical(fields); err != nil || !bytes.Equal(form, message) {
		return nil, "", "it was changed: it is not in its canonical form"
	}
	hash, err = hashOf(fields)
	if err != nil || fields["hash"] != hash {
		return nil, "", "it was changed: its hash is another one"
	}
	if number, ok := fields["n"].(json.Number); !ok || number.String() != strconv.FormatUint(n, 10) {
		return nil, "", fmt.Sprintf("it stands in the wrong place: it says that it is entry %v", fields["n"])
	}
	return fields, hash, ""
}
