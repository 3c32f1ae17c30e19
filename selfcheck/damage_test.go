package selfcheck_test

import (
	"context"
	"os"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/selfcheck"
	"github.com/errata-log/errata/signature"
)

func truncated(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

func flipped(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Files of a part that can be damaged, as ClickHouse names them.
var damaged = []struct {
	name, pattern string
	whole         bool // the rows themselves stay whole
	named         string
}{
	{"data", "data.bin", false, "records"},
	{"mark", "data.*mrk*", false, "records"},
	{"projection", "by_time.proj/data.bin", true, "by_time"},
	{"marks of a projection", "by_group.proj/data.*mrk*", true, "by_group"},
	{"skip index", "skp_idx_ix_user.idx*", true, "records"},
	{"marks of a skip index", "skp_idx_ix_user.*mrk*", true, "records"},
}

// A file of the youngest part is damaged while ClickHouse runs. The next look
// notices and names it, lists answer while the rows are whole, and afterwards all
// records are as before.
func TestDamageIsMended(t *testing.T) {
	for _, harm := range []struct {
		name string
		do   func(*testing.T, string)
	}{{"truncated", truncated}, {"flipped", flipped}} {
		for _, file := range damaged {
			t.Run(harm.name+" "+file.name, func(t *testing.T) {
				h := newHouse(t)
				h.fill()
				if err := h.checker.Look(t.Context()); err != nil || len(h.checker.Last().Damage) > 0 {
					t.Fatalf("before anything happened: %v, %v", h.checker.Last().Damage, err)
				}
				h.answers("before anything happened")
				folders := h.filled()
				harm.do(t, h.file(folders[len(folders)-1], file.pattern))
				h.exec("SYSTEM DROP MARK CACHE")
				h.exec("SYSTEM DROP INDEX MARK CACHE")
				if file.whole {
					h.answers("damaged")
				}
				h.mended(selfcheck.AlarmParts, file.named)
				if h.rebuilt > 0 {
					t.Errorf("all records were made again for the youngest part")
				}
			})
		}
	}
}

// The same after ClickHouse was killed: it sets aside the part that it cannot
// load, or ignores the damaged file.
func TestDamageAtAKillIsMended(t *testing.T) {
	for _, file := range damaged {
		t.Run(file.name, func(t *testing.T) {
			h := newHouse(t)
			h.fill()
			folders := h.filled()
			truncated(t, h.file(folders[len(folders)-1], file.pattern))
			h.KillClickHouse()
			h.stop() // the service is killed too
			h.start()
			h.barrier() // the rows of the part that was set aside are folded again
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.send("seen afterwards, broken")
			h.whole()
		})
	}
}

// One bit of a large context is flipped: ClickHouse tries every bit of the block at
// each read of it. The next look notices the damage all the same and mends it while
// readers hang.
func TestFlippedContextIsMended(t *testing.T) {
	for name, width := range map[string]string{"compact": "1000000000", "wide": "0"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.exec("ALTER TABLE contexts MODIFY SETTING min_bytes_for_wide_part = " + width)
			h.exec("SYSTEM STOP MERGES contexts")
			h.stack = 50_000 // each bit takes as long as the block is: twice as much takes four times as long
			h.fill()
			folders := h.folders("contexts")
			pattern := "data.bin"
			if width == "0" {
				pattern = "payload.bin"
			}
			flipped(t, h.file(folders[len(folders)-1], pattern))
			signature := signature.Sign(signature.Identity{Book: errata.BookSystem, Project: 1, Template: "broken thing d"})
			ctx, giveUp := context.WithTimeout(t.Context(), 2*time.Second)
			defer giveUp()
			if _, payload, err := h.reader.Detail(ctx, errata.BookSystem, signature, query.Projects{}); err == nil {
				t.Errorf("a damaged context is shown: %.80s", payload)
			}
			began := time.Now()
			h.mended(selfcheck.AlarmParts, "table contexts")
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v to mend it", took)
			}
		})
	}
}
