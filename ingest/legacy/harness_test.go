package legacy

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newJetStream is a NATS for this test, with the log and its buckets. It writes to
// the disk as the service does.
func newJetStream(t testing.TB) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("NATS does not start")
	}
	js := testenv.DialJetStream(t, "", nats.InProcessServer(s))
	if err := migrations.Log(t.Context(), js, migrations.LogConfig{MaxBytes: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	return js.Conn(), js
}

// bench is a real log with a folder of old files.
type bench struct {
	log  eventlog.Log
	book *eventlog.ImportBook
	dir  string
	// ahead moves the clock, so that the lock of an interrupted import is free.
	ahead atomic.Int64
}

func newBench(t testing.TB) *bench {
	t.Helper()
	conn, js := newJetStream(t)
	bucket, err := js.KeyValue(t.Context(), migrations.ImportsBucket(""))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		log: eventlog.Log{
			NATS: conn, JetStream: js,
			Stream: migrations.StreamName(""), Prefix: migrations.SubjectPrefix(""),
		},
		book: eventlog.NewImportBook(bucket), dir: filepath.Join(t.TempDir(), "legacy"),
	}
	if err := Prepare(b.dir); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

func (b *bench) importer(t testing.TB) *Importer {
	t.Helper()
	im, err := New(Config{Dir: b.dir, Log: b.log, Book: b.book, Project: 1, Now: b.now})
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// run runs an import, which must succeed.
func (b *bench) run(t testing.TB) Result {
	t.Helper()
	result, err := b.importer(t).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// old is far beyond settleTime ago.
func old() time.Time { return time.Now().Add(-time.Hour) }

// put writes a file with a modification time of an hour ago.
func (b *bench) put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old(), old()); err != nil {
		t.Fatal(err)
	}
	return path
}

// logged counts the events on the log by id.
func (b *bench) logged(t testing.TB) (events []errata.Event, ids map[errata.EventID]int) {
	t.Helper()
	ids = map[errata.EventID]int{}
	state, err := eventlog.Inspect(t.Context(), b.log)
	if err != nil {
		t.Fatal(err)
	}
	if state.Last == 0 {
		return nil, ids
	}
	r, err := eventlog.NewReader(t.Context(), b.log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		fact, err := r.Next(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if fact.Kind == eventlog.FactEvents {
			decoded, err := eventlog.DecodeBlock(fact.Data, nil)
			if err != nil {
				t.Fatal(err)
			}
			decoded.Entries(func(_ int, e eventlog.Entry) {
				ids[e.ID]++
				event, err := e.Event()
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, event)
			})
		}
		if fact.Sequence == state.Last {
			return events, ids
		}
	}
}
