package referee

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// World is what all senders of a run share. Every event is a function of the
// World, its sender and its number, so that nothing has to store millions of
// them.
type World struct {
	Seed uint64
	// Base is a moment before the run; event times lie in the hour before it.
	Base time.Time
	// Problems is how many problems the senders have between them.
	Problems int
}

// Event is one event, as its sender knows it.
type Event struct {
	Sender, N int
	ID        string // 32 hex digits, as every receiver takes it
	Problem   int
	User      int64
	At        time.Time
}

const idPrefix = "e44a7a"

// ID names an event of a sender.
func ID(sender, n int) string { return fmt.Sprintf("%s%04x%022x", idPrefix, sender, n) }

// ParseID is the reverse.
func ParseID(id string) (sender, n int, ok bool) {
	rest, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(id) != 32 {
		return 0, 0, false
	}
	_, err := fmt.Sscanf(rest, "%04x%022x", &sender, &n)
	return sender, n, err == nil
}

// Event is event n of a sender. A few problems are frequent, most are rare.
func (w World) Event(sender, n int) Event {
	random := rand.New(rand.NewPCG(w.Seed^uint64(sender)<<48, uint64(n)))
	return Event{
		Sender: sender, N: n, ID: ID(sender, n),
		Problem: int(float64(w.Problems) * random.Float64() * random.Float64()),
		User:    1 + random.Int64N(1<<40),
		At:      w.Base.Add(-time.Duration(random.Int64N(int64(time.Hour)))).UTC().Truncate(time.Millisecond),
	}
}

const classPrefix = "Problem"

// Class is the exception class that stands for a problem.
func Class(problem int) string { return classPrefix + letters(problem) }

// ParseClass is the reverse.
func ParseClass(class string) (problem int, ok bool) {
	text, ok := strings.CutPrefix(class, classPrefix)
	if !ok {
		return 0, false
	}
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < 'a' || text[i] > 'z' {
			return 0, false
		}
		problem = problem*26 + int(text[i]-'a')
	}
	return problem, Class(problem) == class
}

// letters writes a number without digits, which the signature would replace.
func letters(k int) string {
	var b strings.Builder
	for ; k > 0; k /= 26 {
		b.WriteByte(byte('a' + k%26))
	}
	return b.String()
}
