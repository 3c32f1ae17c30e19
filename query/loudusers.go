package query

import (
	"maps"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	errata "github.com/errata-log/errata"
)

const (
	// loudFrom is from how many occurrences on a record is loud. The users of the others are
	// counted for each answer: those of a full page of them take 50 ms of a processor.
	loudFrom = 10_000
	// agePerOccurrence is how old the count of a loud record may be for each of its occurrences,
	// up to oldestCount. To count one takes 50 ns, so counting takes a thousandth of the time
	// of a processor, for each record that is looked at, however many occurrences it has.
	agePerOccurrence = 50 * time.Microsecond
	// oldestCount is how old a count may be at most. A new event, too, may take so long until
	// it is visible.
	oldestCount = 10 * time.Second
	// maxLoud is how many records are remembered, in less than 1 MB.
	maxLoud = 4096
)

// loudUsers remembers for a while how many users loud records have. A page of them may have 15
// million occurrences, which take 0.75 s of a processor to count, and several lists show the
// same records. It is safe for concurrent use.
type loudUsers struct {
	mu sync.Mutex
	of *lru.LRU[errata.Signature, *loudCount]
}

// loudCount is what was counted of the loud records of a signature, and until when it counts.
type loudCount struct {
	users users
	until time.Time
}

func newLoudUsers() *loudUsers {
	of, err := lru.NewLRU[errata.Signature, *loudCount](maxLoud, nil)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &loudUsers{of: of}
}

// add notes how many users a record had at a time, when it is loud.
func (l *loudUsers) add(signature errata.Signature, id errata.Position, n, occurrences uint64, at time.Time) {
	if occurrences < loudFrom {
		return
	}
	until := at.Add(time.Duration(min(occurrences, uint64(oldestCount/agePerOccurrence))) * agePerOccurrence)
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, there := l.of.Get(signature); there && at.Before(c.until) {
		c.users[id] = n
		if until.Before(c.until) {
			c.until = until
		}
		return
	}
	l.of.Add(signature, &loudCount{users: users{id: n}, until: until})
}

// find returns the users that are remembered at a time, and the signatures of which none are.
func (l *loudUsers) find(signatures []errata.Signature, at time.Time) (remembered users, others []errata.Signature) {
	l.mu.Lock()
	defer l.mu.Unlock()
	remembered = make(users, len(signatures))
	for _, signature := range signatures {
		if c, there := l.of.Get(signature); there && at.Before(c.until) {
			maps.Copy(remembered, c.users)
			continue
		}
		others = append(others, signature)
	}
	return remembered, others
}

// has says whether something is remembered of the signature.
func (l *loudUsers) has(signature errata.Signature) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of.Contains(signature)
}
