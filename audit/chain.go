package audit

import (
	"bytes"
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
	// Entries is how many entries are good, from the first on.
	Entries uint64
	// Head is the hash of the last good entry. Whoever keeps it elsewhere can
	// tell later that nothing up to here was written anew.
	Head string
	// Problem is nil when the whole chain is good.
	Problem *Problem
}

// Chain checks entries one after another. Its zero value expects the first.
type Chain struct {
	report Report
}

// Add checks the message at sequence n of the trail. After the first problem
// nothing counts any more and it returns false.
func (c *Chain) Add(n uint64, message []byte) bool {
	if c.report.Problem != nil {
		return false
	}
	want := c.report.Entries + 1
	if n != want {
		c.fail(want, fmt.Sprintf("it is missing: entry %d follows entry %d", n, want-1))
		return false
	}
	prev := c.report.Head
	if prev == "" {
		prev = firstPrev
	}
	hash, problem := checkEntry(message, want, prev)
	if problem != "" {
		c.fail(want, problem)
		return false
	}
	c.report.Entries, c.report.Head = want, hash
	return true
}

// End says that the trail should reach to entry last.
func (c *Chain) End(last uint64) {
	if c.report.Problem == nil && c.report.Entries < last {
		c.fail(c.report.Entries+1, fmt.Sprintf("it is missing: the trail reaches to entry %d", last))
	}
}

// Report is what was found so far.
func (c *Chain) Report() Report { return c.report }

func (c *Chain) fail(n uint64, reason string) { c.report.Problem = &Problem{N: n, Reason: reason} }

// checkEntry checks that message is entry n and follows the entry with the
// hash prev, and returns its own hash, or what is wrong.
func checkEntry(message []byte, n uint64, prev string) (hash, problem string) {
	fields, err := decodeFields(message)
	if err != nil {
		return "", "it was changed: it is no JSON object"
	}
	// Bytes that the hash does not see, such as white space or a member that
	// stands twice, are a change too.
	if form, err := canonical(fields); err != nil || !bytes.Equal(form, message) {
		return "", "it was changed: it is not in its canonical form"
	}
	hash, err = hashOf(fields)
	if err != nil || fields["hash"] != hash {
		return "", "it was changed: its hash is another one"
	}
	if number, ok := fields["n"].(json.Number); !ok || number.String() != strconv.FormatUint(n, 10) {
		return "", fmt.Sprintf("it stands in the wrong place: it says that it is entry %v", fields["n"])
	}
	if fields["prev"] != prev {
		return "", "it does not follow the entry before it: one of the two was exchanged"
	}
	return hash, ""
}
