package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	importKills = 10
	// linesOfKill is how many lines there are for each kill, so that the import is
	// under way at most of them.
	linesOfKill = 6000
)

// TestImportKilledAnywhere: a service that is killed again and again during an
// import continues where it stopped. In the end every line counts once, and
// another call imports nothing.
func TestImportKilledAnywhere(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	s := newService(t)
	if _, ready := s.start(""); !ready {
		t.Fatal("the service did not start")
	}
	kills := killsOf(t, importKills)
	lines := kills * linesOfKill
	writeOldFile(t, filepath.Join(s.data, "legacy", "system", "php.log"), lines)
	finished := 0
	for range kills {
		answered := make(chan bool, 1)
		go func() { // ends with the answer, or with the service
			_, ok := s.rebuild()
			answered <- ok
		}()
		// reason: the kill comes at a random moment of the import.
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		s.recover()
		if <-answered {
			finished++
		}
	}
	for range 2 {
		count, ok := s.rebuild()
		if !ok {
			t.Fatal("the import is refused")
		}
		t.Logf("imported %d more", count)
	}
	if count, ok := s.rebuild(); !ok || count != 0 {
		t.Errorf("the last call imported %d (%v), want 0", count, ok)
	}
	sum := 0
	for _, r := range list(t, s) {
		sum += r.Count
	}
	if sum != lines {
		t.Errorf("%d lines became %d events: error %+d", lines, sum, sum-lines)
	}
	t.Logf("%d kills, of which %d after the import had ended", kills, finished)
}

// writeOldFile writes an error log of PHP.
func writeOldFile(t *testing.T, path string, lines int) {
	t.Helper()
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "[21-Nov-2026 03:%02d:%02d UTC] PHP Warning:  Undefined variable %s in /srv/app/a.php on line 7\n", i/60%60, i%60, letters(i%50))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rebuild runs the import and returns how many events it appended to the log.
func (s *service) rebuild() (count int, ok bool) {
	req, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/api/v1/admin/tools/logs/errors/rebuild", http.NoBody)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key("admin.key"))
	resp, err := (&http.Client{Timeout: 2 * time.Minute}).Do(req)
	if err != nil {
		return 0, false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var told struct{ Data struct{ Count int } }
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &told) != nil {
		return 0, false
	}
	return told.Data.Count, true
}
