package projector_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// TestStartReadsKeptIDs: a start knows the events of before from the files of their ids, and
// not from the log. After a replay it knows them from the log, as the new tables do.
func TestStartReadsKeptIDs(t *testing.T) {
	const events, block = 66_000, 200
	l := newLedger(t)
	l.window = t.TempDir()
	_, stop := l.start()
	sent := func(n int) errata.Event { return event("often broken", fmt.Sprint(n)) }
	for n := 0; n < events; n += block {
		var list []errata.Event
		for i := range block {
			list = append(list, sent(n+i))
		}
		l.append(list...)
	}
	l.barrier()
	files := l.keptIDs()
	stop()

	p, stop := l.start()
	l.append(sent(0), sent(events-1), sent(events))
	l.barrier()
	if cp := l.checkpoint(p); cp.Events != events+1 || cp.Duplicates != 2 {
		t.Errorf("after a restart %d events are counted, %d were repeats; want %d and 2", cp.Events, cp.Duplicates, events+1)
	}
	stop()

	if err := projector.OtherIDs(files[0]); err != nil {
		t.Fatal(err)
	}
	p, _ = l.start()
	l.append(sent(1))
	l.barrier()
	if cp := l.checkpoint(p); cp.Events != events+2 {
		t.Errorf("with other ids in the file %d events are counted, want %d: the ids came from the log", cp.Events, events+2)
	}

	replay := l.rebuild()
	replay.Force = true
	if comparison, err := projector.Rebuild(t.Context(), p, replay); err != nil || !comparison.Swapped {
		t.Fatalf("the replay: %+v, %v", comparison, err)
	}
	l.append(sent(1), sent(2))
	l.barrier()
	if cp := l.checkpoint(p); cp.Events != events+1 {
		t.Errorf("after a replay %d events are counted, want %d: the ids came from a file of before", cp.Events, events+1)
	}
}

// keptIDs waits for the first file of ids. It is written behind the facts that come after it.
func (l *ledger) keptIDs() (files []string) {
	l.t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		l.barrier()
		files, err := filepath.Glob(filepath.Join(l.window, "*.ids"))
		if err != nil {
			l.t.Fatal(err)
		}
		if len(files) > 0 {
			return files
		}
	}
	l.t.Fatal("no event ids are kept")
	return nil
}
