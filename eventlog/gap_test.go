package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

// gapPatience is much longer than reading a small log takes: a reader that waits
// for a lost fact never returns.
const gapPatience = 20 * time.Second

// damaged is a way to damage the files of a log, and what is gone after it.
type damage struct {
	name string
	// do damages the fact with the sequence in the file.
	do func(t *testing.T, file string, sequence uint64)
	// index says that the server stopped cleanly, and left its index.
	index bool
}

var damages = []damage{
	{"a bit of a payload", flipPayload, true},
	{"a bit of a payload, no index", flipPayload, false},
	{"a bit of the sequence", flipSequence, true},
	{"a high bit of the sequence", flipHighBit, true}, // the server alone never comes up
	{"a bit of the length", flipLength, true},
	{"a bit of the length, no index", flipLength, false},
	{"the file ends there", cutFile, true},
	{"the file ends there, no index", cutFile, false},
	{"the file is gone", removeFile, true},
	{"the file is gone, no index", removeFile, false},
}

func flipPayload(t *testing.T, file string, sequence uint64) {
	at, size := testenv.FindRecord(t, file, sequence)
	testenv.Flip(t, file, at+size-40)
}

func flipSequence(t *testing.T, file string, sequence uint64) {
	at, _ := testenv.FindRecord(t, file, sequence)
	testenv.Flip(t, file, at+4)
}

func flipHighBit(t *testing.T, file string, sequence uint64) {
	at, _ := testenv.FindRecord(t, file, sequence)
	testenv.Flip(t, file, at+4+7)
}

func flipLength(t *testing.T, file string, sequence uint64) {
	at, _ := testenv.FindRecord(t, file, sequence)
	testenv.Flip(t, file, at)
}

func cutFile(t *testing.T, file string, sequence uint64) {
	at, size := testenv.FindRecord(t, file, sequence)
	if err := os.Truncate(file, at+size/2); err != nil {
		t.Fatal(err)
	}
}

func removeFile(t *testing.T, file string, _ uint64) {
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// newSmallLog is newLog with small files.
func newSmallLog(t *testing.T) logEnv {
	t.Helper()
	l := newLog(t)
	small := l.SmallLog()
	l.Stream, l.Prefix = migrations.StreamName(small), migrations.SubjectPrefix(small)
	return l
}

// TestDamage damages a file of the log as disks do, and reads the log: every lost
// fact is named, and all others are read.
func TestDamage(t *testing.T) {
	for _, d := range damages {
		for _, young := range []string{"first file", "old file", "last file"} {
			t.Run(d.name+", "+young, func(t *testing.T) {
				testDamage(t, d, young)
			})
		}
	}
}

func testDamage(t *testing.T, d damage, where string) {
	l := newSmallLog(t)
	l.NeedEmbedded()
	counts := l.fill(t, 150)
	target := l.damage(t, d, where)
	state, err := eventlog.Inspect(t.Context(), l.Log)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.appender(t).Append(t.Context(), []errata.Event{event("after")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), gapPatience)
	defer cancel()
	report, err := eventlog.Verify(ctx, l.Log, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("facts %d to %d after %s of fact %d: %+v", state.First, state.Last, d.name, target, report)
	if strings.HasPrefix(d.name, "a ") && (len(report.Gaps) != 1 || report.Gaps[0].From != target || report.Gaps[0].To != target) {
		t.Errorf("fact %d was damaged, and gone are %v", target, report.Gaps)
	}
	gone := map[uint64]bool{}
	for _, g := range report.Gaps {
		var lost uint64
		for seq := g.From; seq <= g.To; seq++ {
			gone[seq] = true
			lost += uint64(counts[seq])
		}
		if g.Events.Least > lost || g.Events.Most < lost {
			t.Errorf("%v: %d events were lost", g, lost)
		}
	}
	if len(gone) == 0 && state.Last == uint64(len(counts)) {
		t.Error("nothing is gone, although a file was damaged")
	}
	l.readAround(ctx, t, report, gone)
}

// fill appends so many facts of one event or two, and says how many by sequence.
func (l logEnv) fill(t *testing.T, facts int) map[uint64]int {
	t.Helper()
	appender, payload, counts := l.appender(t), make([]byte, 500), map[uint64]int{}
	for i := 1; i <= facts; i++ {
		e := event(fmt.Sprint(i))
		e.Payload = append([]byte(nil), payload...)
		scramble(e.Payload, uint64(i))
		events := []errata.Event{e}
		if i%7 == 0 {
			events = []errata.Event{event(fmt.Sprint(i, "a")), event(fmt.Sprint(i, "b"))}
		}
		counts[uint64(i)] = len(events)
		if err := appender.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// damage damages a fact in one of the log's files while NATS is down.
func (l logEnv) damage(t *testing.T, d damage, where string) (target uint64) {
	t.Helper()
	l.DamageNATS(func(folder string) {
		list := testenv.LogFiles(t, folder, l.Stream)
		if len(list) < 3 {
			t.Fatalf("the log has %d files, the test wants 3", len(list))
		}
		n := map[string]int{"first file": 0, "old file": 1, "last file": len(list) - 1}[where]
		target = list[n].First + 3
		d.do(t, list[n].Path, target)
		if !d.index {
			if err := os.Remove(filepath.Join(filepath.Dir(list[n].Path), "index.db")); err != nil {
				t.Fatal(err)
			}
		}
	})
	return target
}

// readAround reads the log and wants each fact or its gap, in order.
func (l logEnv) readAround(ctx context.Context, t *testing.T, report eventlog.Report, gone map[uint64]bool) {
	t.Helper()
	r, err := eventlog.NewReaderUntil(ctx, l.Log, 1, report.Last)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for seq := uint64(1); seq <= report.Last; seq++ {
		f, err := r.Next(ctx)
		if gap, ok := errors.AsType[*eventlog.GapError](err); ok {
			if gap.From != seq || !gone[gap.From] || !gone[gap.To] {
				t.Fatalf("met %v at %d, not among %v", gap, seq, report.Gaps)
			}
			seq = gap.To
			continue
		}
		if err != nil || f.Sequence != seq || gone[seq] {
			t.Fatalf("got fact %d, want %d: %v", f.Sequence, seq, err)
		}
	}
}

// scramble makes bytes that do not compress, the same for the same seed.
func scramble(b []byte, seed uint64) {
	x := seed*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
}
