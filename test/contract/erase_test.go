package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const (
	erasePath  = "/api/v1/admin/ops/erase"
	replayPath = "/api/v1/admin/ops/replay"
	auditPath  = "/api/v1/admin/audit"
)

// wantPlanted searches what stands only in the whole message of one event.
func (s *service) wantPlanted(t *testing.T, want string) {
	t.Helper()
	s.wantNames(t, "search=planted+row", want)
	s.wantNames(t, "message=planted*row", want)
}

// TestErase: after an erasure no answer shows the person, the counts are
// unchanged, and a replay gives the same, also when the log begins behind the
// erasure.
func TestErase(t *testing.T) {
	t.Parallel()
	s := start(t)
	const user, address, persons = "4711", "203.0.113.9", `{"users":["4711","u-planted"],"addresses":["203.0.113.9"]}`
	mine := trial("system", "mine")
	mine.UserID, mine.IP = json.RawMessage(user), "198.51.100.1"
	byAddress := trial("system", "by address")
	byAddress.UserID, byAddress.IP = json.RawMessage("5"), address
	byName := trial("database", "by name") // a name that is no number is in the context alone
	byName.UserID = json.RawMessage(`"u-planted"`)
	mentioned := trial("system", "mentioned")
	mentioned.Message, mentioned.UserID = "refused "+address+", not 203.0.113.99\nplanted row", json.RawMessage("6")
	other := trial("system", "other")
	other.UserID, other.IP = json.RawMessage("47"), "203.0.113.99"
	s.send(t, mine, mine, byAddress, byName, mentioned, other)
	s.settle(t)
	before, _ := s.detail(t, other)
	s.wantPlanted(t, "refused "+address+", not 203.0.113.99")
	for _, count := range []string{"4", "0"} { // records of the first erasure no longer match the second
		s.want(t, request{method: http.MethodPost, path: erasePath, body: persons}, `{"count":`+count+`,"erased":true,"log_cut":false}`)
	}
	check := func(when string) {
		t.Helper()
		for _, e := range []event{mine, byAddress, byName, mentioned} {
			text := s.get(t, errorsPath+"/"+e.signature().String()+"?type="+e.Book)
			for _, gone := range []string{user, "u-planted", `"` + address, " " + address + ",", "sighting", `"user_id":5`} {
				if strings.Contains(text, gone) {
					t.Errorf("%s: %q is still in %s", when, gone, text)
				}
			}
		}
		if f, _ := s.detail(t, mine); f.Count != 2 {
			t.Errorf("%s: count %d, want 2", when, f.Count)
		}
		if text := s.get(t, errorsPath+"/"+mentioned.signature().String()); !strings.Contains(text, "refused [erased], not 203.0.113.99") || !strings.Contains(text, `"user_id":6`) {
			t.Errorf("%s: who only mentions the address is %s", when, text)
		}
		if after, _ := s.detail(t, other); string(after.Payload) != string(before.Payload) || after.Count != before.Count {
			t.Errorf("%s: somebody else is %+v, was %+v", when, after, before)
		}
		s.wantNames(t, "user_id=4711", "")
		s.wantNames(t, "ip="+address, "")
		s.wantNames(t, "user_id=47", "other")
		s.wantPlanted(t, "")
	}
	check("erased")
	if trail := s.get(t, auditPath+"?action=errors.erase"); !strings.Contains(trail, `"request":{"addresses":1,"users":2}`) {
		t.Errorf("the audit trail: %s", trail)
	}
	s.replayed(t, 1)
	check("replayed")

	s.want(t, request{method: http.MethodPost, path: erasePath, body: `{"users":["nobody"],"cut_log":true}`}, `{"count":0,"erased":true,"log_cut":true}`)
	s.send(t, mine)
	s.settle(t)
	s.replayed(t, 2)
	if f, _ := s.detail(t, mine); f.Count != 3 {
		t.Errorf("seen again after the log was cut: count %d, want 3", f.Count)
	}
}

// replayed makes the records again, which must be the same, from the fact with
// the sequence or a later one.
func (s *service) replayed(t *testing.T, from uint64) {
	t.Helper()
	var told struct {
		Swapped     bool     `json:"swapped"`
		From        uint64   `json:"from"`
		Differences []string `json:"differences"`
	}
	text := s.want(t, request{method: http.MethodPost, path: replayPath}, "")
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}
	if !told.Swapped || len(told.Differences) > 0 || told.From < from {
		t.Errorf("replayed: %s, want the same, from %d on", text, from)
	}
}
