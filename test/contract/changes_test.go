package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// After each change the test reads at once, and the read must show the change.
// Nothing here waits or asks twice.

// trial is an event with a grouping of its own in a book.
func trial(book, name string) event {
	return event{Book: book, Level: "error", Message: name, File: "src/a.go", Fingerprint: []string{name}, Payload: map[string]any{"sighting": 1}}
}

// found is the part of a record that the tests of changes compare.
type found struct {
	ID        uint64          `json:"id"`
	Signature string          `json:"signature"`
	Count     int             `json:"count"`
	FirstSeen string          `json:"first_seen"`
	LastSeen  string          `json:"last_seen"`
	Status    string          `json:"status"`
	Regressed bool            `json:"regressed"`
	Payload   json.RawMessage `json:"payload"`
}

// detail reads the record of an event; there is false when none exists.
func (s *service) detail(t *testing.T, e event) (f found, there bool) {
	t.Helper()
	r := request{method: http.MethodGet, path: errorsPath + "/" + e.signature().String() + "?type=" + e.Book}
	a := s.do(t, r)
	if a.status == http.StatusNotFound {
		s.refused(t, r, http.StatusNotFound, "not_found", e.signature().String())
		return f, false
	}
	if err := json.Unmarshal([]byte(s.want(t, r, "")), &f); err != nil {
		t.Fatal(err)
	}
	return f, true
}

// names are the messages of all records of a filter, in the order of the list.
func (s *service) names(t *testing.T, query string) string {
	t.Helper()
	var rows []struct {
		Message string `json:"message_preview"`
	}
	if err := json.Unmarshal([]byte(s.get(t, errorsPath+"?order=message&direction=asc&limit=100&"+query)), &rows); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.Message)
	}
	return strings.Join(all, " ")
}

func (s *service) wantNames(t *testing.T, query, want string) {
	t.Helper()
	if got := s.names(t, query); got != want {
		t.Errorf("%s: records %q, want %q", query, got, want)
	}
}

// remove deletes records and returns the answer.
func (s *service) remove(t *testing.T, count int, signatures ...string) {
	t.Helper()
	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(signatures...)}, fmt.Sprintf(`{"count":%d,"deleted":true}`, count))
}

// TestDelete tests the delete of records.
func TestDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	var all []event
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all = append(all, trial("system", name), trial("database", name))
	}
	s.send(t, all...)
	s.settle(t)
	signature := func(i int) string { return all[i].signature().String() }
	unknown := strings.Repeat("f", 32)

	s.remove(t, 2, signature(0), signature(1)) // one in each book
	s.wantNames(t, "types=system", "b c d e")
	s.wantNames(t, "types=database", "b c d e")
	s.remove(t, 0, signature(0), unknown)                                                                 // deleted records are no error
	s.remove(t, 1, unknown, signature(2), strings.ToUpper(signature(2)), signature(2), "", "x", " ", "?") // invalid ones are skipped
	s.wantNames(t, "types=system", "c d e")
	s.wantNames(t, "", "b c c d d e e")

	// A thousand different ones are accepted; one more is refused, and deletes
	// nothing. How often one is sent does not matter.
	most := different(999)
	s.refused(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(append(most, signature(4), signature(5))...)},
		http.StatusUnprocessableEntity, "too_many_signatures", "1000", "1001")
	s.wantNames(t, "", "b c c d d e e")
	s.remove(t, 1, append(most, slices.Repeat([]string{signature(4), "?"}, 1001)...)...)
	if _, there := s.detail(t, all[4]); there {
		t.Error("a deleted record is still found")
	}
	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: body("unknown", "field", "signatures", []string{signature(5)}, "Signature", 7)}, `{"count":1,"deleted":true}`)
	s.wantNames(t, "", "b d d e e")
}

// TestSeenAgainAfterDelete: a deleted problem that is seen again has a new
// record.
func TestSeenAgainAfterDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := trial("database", "again")
	early, late, later := s.now.Add(-3*time.Hour), s.now.Add(-2*time.Hour), s.now.Add(-time.Hour)
	s.send(t, e.at(late), e.at(early), e.at(late))
	s.settle(t)
	was, _ := s.detail(t, e)
	if was.Count != 3 || was.FirstSeen != instant(early) || was.LastSeen != instant(late) {
		t.Fatalf("%+v, want three sightings from %v to %v", was, early, late)
	}
	s.remove(t, 1, was.Signature)
	e.Payload = map[string]any{"sighting": 2}
	s.send(t, e.at(later))
	s.settle(t)
	is, there := s.detail(t, e)
	if !there || is.Count != 1 || is.ID <= was.ID || is.FirstSeen != instant(later) || is.LastSeen != instant(later) || is.Status != "open" || is.Regressed {
		t.Errorf("%+v, want a new record with one sighting at %v", is, later)
	}
	if !strings.Contains(string(was.Payload), `"sighting":1`) || !strings.Contains(string(is.Payload), `"sighting":2`) {
		t.Errorf("payload %s, then %s: want that of the first sighting of each", was.Payload, is.Payload)
	}
}

// clean runs a cleanup and returns the answer.
func (s *service) clean(t *testing.T, before, echo string, system, database int) {
	t.Helper()
	s.want(t, request{method: http.MethodPost, path: cleanupPath, body: body("before", before, "x", 1)},
		fmt.Sprintf(`{"before":%q,"cleared":true,"deleted":{"system":%d,"database":%d}}`, echo, system, database))
}

// TestCleanup tests the cleanup: a record at the cut-off is deleted too, and the
// last sighting decides.
func TestCleanup(t *testing.T) {
	t.Parallel()
	s := start(t)
	const day = 24 * time.Hour
	midnight := s.now.Truncate(day).Add(-5 * day)
	date := midnight.Add(-day).Format(time.DateOnly) // the day that ends at midnight
	noon := midnight.Add(12*time.Hour + 500*time.Millisecond)
	for _, book := range []string{"system", "database"} {
		s.send(t, trial(book, "a").at(midnight.Add(-2*day)), trial(book, "b").at(midnight.Add(-time.Millisecond)), trial(book, "c").at(midnight),
			trial(book, "d").at(noon.Add(-time.Millisecond)), trial(book, "e").at(noon), trial(book, "f").at(noon.Add(time.Millisecond)))
	}
	// Seen early and late: the late sighting keeps the record.
	s.send(t, trial("system", "g").at(midnight.Add(-3*day)), trial("system", "g").at(s.now), trial("system", "h"))
	s.settle(t)
	s.wantNames(t, "", "a a b b c c d d e e f f g h")

	s.clean(t, "1999-12-31", "1999-12-31", 0, 0)
	s.wantNames(t, "types=database", "a b c d e f")
	s.clean(t, " "+date+" ", date, 2, 2)
	s.wantNames(t, "", "c c d d e e f f g h")
	s.clean(t, midnight.Format(time.RFC3339), instant(midnight), 1, 1)
	s.wantNames(t, "", "d d e e f f g h")
	zone := time.FixedZone("", -7*3600)
	s.clean(t, noon.Add(900*time.Microsecond).In(zone).Format(time.RFC3339Nano), instant(noon), 2, 2)
	s.wantNames(t, "", "f f g h")
	if _, there := s.detail(t, trial("system", "e")); there {
		t.Error("a record at the instant of the cut-off is still found")
	}
	future := s.now.AddDate(10, 0, 0).Format(time.DateOnly)
	s.clean(t, future, future, 3, 1) // allowed, and empties both books
	s.wantNames(t, "", "")
	s.clean(t, future, future, 0, 0)

	s.send(t, trial("system", "a"))
	s.settle(t)
	s.wantNames(t, "", "a")
}

// move changes the status of records and returns the answer.
func (s *service) move(t *testing.T, word, status string, count int, signatures ...string) {
	t.Helper()
	s.want(t, request{method: http.MethodPost, path: statusPath, body: body("signatures", signatures, "status", word)},
		body("count", count, "status", status, "updated", true))
}

// TestStatus tests changes of the status.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := trial("system", "a"), trial("database", "b")
	s.send(t, a, b)
	s.settle(t)
	first, second := a.signature().String(), b.signature().String()
	wantStatus := func(e event, count int, status string, regressed bool) {
		t.Helper()
		if got, _ := s.detail(t, e); got.Count != count || got.Status != status || got.Regressed != regressed {
			t.Errorf("%s: %+v, want %d sightings, %s, regressed %t", e.Message, got, count, status, regressed)
		}
	}
	wantStatus(a, 1, "open", false)
	for word, status := range map[string]string{
		"resolved": "resolved", "muted": "muted", "open": "open", "RESOLVED": "resolved", " Muted ": "muted", "new": "open", "unresolved": "open", "active": "open",
		"ignored": "muted", "archived": "muted", "snoozed": "muted",
	} {
		s.move(t, word, status, 2, first, strings.ToUpper(first), second, strings.Repeat("0", 32), "x")
		wantStatus(a, 1, status, false)
		s.wantNames(t, "status="+status, "a b")
	}

	// A resolved record that is seen again becomes open and has regressed.
	s.move(t, "resolved", "resolved", 2, first, second)
	s.wantNames(t, "status=open", "")
	s.send(t, a)
	s.settle(t)
	wantStatus(a, 2, "open", true)
	wantStatus(b, 1, "resolved", false)
	s.send(t, a)
	s.settle(t)
	wantStatus(a, 3, "open", true) // it stays so until an administrator decides
	s.move(t, "open", "open", 1, first)
	wantStatus(a, 3, "open", false)

	// Events that are before the decision in the log do not undo it, settled or
	// not.
	s.send(t, b)
	s.move(t, "resolved", "resolved", 1, second)
	wantStatus(b, 2, "resolved", false)

	// A muted record still counts, and is noise.
	s.move(t, "ignored", "muted", 1, first)
	s.send(t, a, a)
	s.settle(t)
	wantStatus(a, 5, "muted", false)
	s.wantNames(t, "hide_noise=1", "b")
	s.wantNames(t, "hide_noise=0", "a b")
	s.remove(t, 1, first)
	s.send(t, a)
	s.settle(t)
	wantStatus(a, 1, "open", false) // a new record does not inherit it
}

// TestReadYourWrites changes many times events that were just sent, without
// settling: each answer and each read after it reflect all earlier requests.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 5 {
		e := trial([]string{"system", "database"}[i%2], fmt.Sprintf("round %d", i))
		s.send(t, e, e, e)
		s.move(t, "muted", "muted", 1, e.signature().String())
		if got, there := s.detail(t, e); !there || got.Count != 3 || got.Status != "muted" {
			t.Fatalf("round %d: %+v after the move", i, got)
		}
		s.wantNames(t, "status=muted", e.Message)
		s.send(t, e)
		if i%2 == 1 {
			far := instant(s.now.AddDate(1, 0, 0))
			s.clean(t, far, far, 1-i%2, i%2)
		} else {
			s.remove(t, 1, e.signature().String())
		}
		s.wantNames(t, "", "")
		if _, there := s.detail(t, e); there {
			t.Fatalf("round %d: the record is still there", i)
		}
	}
}
