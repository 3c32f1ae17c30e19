package logfiles_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/logfiles"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// stream is a stream of small files on a real server.
type stream struct {
	*testenv.Broker
	t      *testing.T
	name   string
	prefix string
}

func newStream(t *testing.T) *stream {
	t.Helper()
	b := testenv.NewBroker(t)
	if !b.Embedded() {
		t.Skip("needs the files of an embedded NATS") // reason: an external server's files are out of reach
	}
	namespace := b.SmallLog()
	return &stream{Broker: b, t: t, name: migrations.StreamName(namespace), prefix: migrations.SubjectPrefix(namespace)}
}

// fill appends messages, every third one with a header of its own.
func (s *stream) fill(n int) {
	s.t.Helper()
	for i := range n {
		opts := []jetstream.PublishOpt{}
		if i%3 == 0 {
			opts = append(opts, jetstream.WithMsgID(fmt.Sprint(s.name, i, n)))
		}
		data := bytes.Repeat(fmt.Appendf(nil, "%d ", i*7919), 80)
		if _, err := s.JetStream.Publish(s.t.Context(), s.prefix+"ev.0", data, opts...); err != nil {
			s.t.Fatal(err)
		}
	}
}

// all reads the messages of the stream, by sequence.
func (s *stream) all() map[uint64]string {
	s.t.Helper()
	in, err := s.JetStream.Stream(s.t.Context(), s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	state := in.CachedInfo().State
	list := map[uint64]string{}
	for sequence := state.FirstSeq; sequence <= state.LastSeq; sequence++ {
		if m, err := in.GetMsg(s.t.Context(), sequence); err == nil {
			list[sequence] = fmt.Sprint(m.Subject, m.Header, string(m.Data), m.Time.UnixNano())
		}
	}
	return list
}

// copyTo copies the files while no server runs.
func (s *stream) copyTo(folder string) {
	s.t.Helper()
	s.DamageNATS(func(from string) {
		if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
			s.t.Fatal(err)
		}
	})
}

func good(logfiles.Message) logfiles.Kind { return logfiles.Good }

// harm is a way to damage the files of a stream of 150 messages.
type harm struct {
	name string
	do   func(t *testing.T, files []testenv.LogFile)
	gone int // how many messages, -1 for many
}

func flipAt(n int, offset uint64) func(t *testing.T, files []testenv.LogFile) {
	return func(t *testing.T, files []testenv.LogFile) {
		at, size := testenv.FindRecord(t, files[n].Path, files[n].First+offset)
		testenv.Flip(t, files[n].Path, at+size-20)
	}
}

func remove(which func(files []testenv.LogFile) int) func(t *testing.T, files []testenv.LogFile) {
	return func(t *testing.T, files []testenv.LogFile) {
		if err := os.Remove(files[which(files)].Path); err != nil {
			t.Fatal(err)
		}
	}
}

var harms = []harm{
	{"nothing", func(*testing.T, []testenv.LogFile) {}, 0},
	{"a bit in the first file", flipAt(0, 3), 1},
	{"the first message of a file", flipAt(1, 0), 1},
	{"a bit in the last file", flipAt(2, 1), 1},
	{"half a file", func(t *testing.T, files []testenv.LogFile) {
		at, _ := testenv.FindRecord(t, files[1].Path, files[1].First+10)
		if err := os.Truncate(files[1].Path, at+5); err != nil {
			t.Fatal(err)
		}
	}, -1},
	{"the first file", remove(func([]testenv.LogFile) int { return 0 }), -1},
	{"a whole file", remove(func([]testenv.LogFile) int { return 1 }), -1},
	{"the last file", remove(func(files []testenv.LogFile) int { return len(files) - 1 }), -1},
}

// sources are the kinds of copies.
var sources = []struct {
	name string
	open func(s *stream, folder string) logfiles.Copy
}{
	{"folder", (*stream).openCopy},
	{"server", (*stream).serveCopy},
}

func (s *stream) openCopy(folder string) logfiles.Copy {
	s.t.Helper()
	from, err := logfiles.Open(folder, s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := from.Copy()
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// serveCopy starts a server on the copy.
func (s *stream) serveCopy(folder string) logfiles.Copy {
	s.t.Helper()
	conn, err := nats.Connect(testenv.ServeNATS(s.t, folder))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return eventlog.Copy{Log: eventlog.Log{NATS: conn, JetStream: js, Stream: s.name, Prefix: s.prefix}}
}

// counted is a copy that counts the questions.
type counted struct {
	logfiles.Copy
	asked int
}

func (c *counted) Next(ctx context.Context, from uint64) (logfiles.Message, bool, error) {
	c.asked++
	return c.Copy.Next(ctx, from)
}

// TestRepair damages the files of a stream, and wants each message back at its
// place with its bytes and its time. The copy must get no more questions than are
// needed.
func TestRepair(t *testing.T) {
	for _, from := range sources {
		for _, h := range harms {
			t.Run(h.name+" from a "+from.name, func(t *testing.T) {
				s := newStream(t)
				s.fill(150)
				want := s.all()
				backup := filepath.Join(t.TempDir(), "backup")
				s.copyTo(backup)
				s.DamageNATS(func(folder string) {
					files := testenv.LogFiles(t, folder, s.name)
					if len(files) < 3 {
						t.Fatalf("%d files, want 3", len(files))
					}
					h.do(t, files)
					s.repair(folder, from.open(s, backup), h.gone)
				})
				got := s.all()
				for sequence, m := range want {
					if got[sequence] != m {
						t.Errorf("message %d is %q, want %q", sequence, got[sequence], m)
					}
				}
				s.fill(1)
				if len(s.all()) != len(want)+1 {
					t.Errorf("%d messages, want one more than %d", len(s.all()), len(want))
				}
			})
		}
	}
}

// repair checks the files, repairs them from the copy, and checks them again.
func (s *stream) repair(folder string, from logfiles.Copy, gone int) {
	t := s.t
	t.Helper()
	here, err := logfiles.Open(folder, s.name)
	if err != nil {
		t.Fatal(err)
	}
	before, err := check(here)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, g := range before.Gone {
		lost += int(g.To - g.From + 1)
	}
	if lost != gone && (gone >= 0 || lost < 10) || before.Last != 150 {
		t.Errorf("before the repair %v are gone up to %d", before.Gone, before.Last)
	}
	c := &counted{Copy: from}
	restored, err := repair(t, here, []logfiles.Copy{c}, filepath.Join(folder, "damaged", s.name))
	if err != nil {
		t.Fatal(err)
	}
	if restored != lost {
		t.Errorf("%d were put back, %d were gone", restored, lost)
	}
	if c.asked > lost+12 { // 8 halve 150 messages
		t.Errorf("the copy was asked %d times for %d messages", c.asked, lost)
	}
	if after, err := check(here); err != nil || len(after.Gone) != 0 || after.Messages != 150 {
		t.Errorf("after the repair: %+v, %v", after, err)
	}
}

// check reads the files, which should begin with message 1.
func check(s logfiles.Stream) (logfiles.Report, error) {
	inv, err := s.Read(good)
	if err != nil {
		return logfiles.Report{}, err
	}
	return inv.Report(1), nil
}

// repair reads the files, which should begin with message 1, and mends them.
func repair(t *testing.T, s logfiles.Stream, copies []logfiles.Copy, keep string) (int, error) {
	t.Helper()
	inv, err := s.Read(good)
	if err != nil {
		return 0, err
	}
	return inv.Repair(t.Context(), 1, copies, keep, good)
}

// TestRepairOtherHistory: a copy with another history is used up to the first
// difference, and an older copy up to its end.
func TestRepairOtherHistory(t *testing.T) {
	for _, from := range sources {
		t.Run(from.name, func(t *testing.T) {
			s := newStream(t)
			old, other := filepath.Join(t.TempDir(), "old"), filepath.Join(t.TempDir(), "other")
			s.fill(50)
			s.copyTo(old)
			s.fill(50)
			s.copyTo(other)
			s.DamageNATS(func(folder string) {
				if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(old))); err != nil {
					t.Fatal(err)
				}
			})
			s.fill(50) // the same numbers again
			s.DamageNATS(func(folder string) {
				for _, gone := range []uint64{10, 70} {
					for _, f := range testenv.LogFiles(t, folder, s.name) {
						if f.First <= gone && gone < f.First+40 {
							at, size := testenv.FindRecord(t, f.Path, gone)
							testenv.Flip(t, f.Path, at+size-20)
						}
					}
				}
				here, err := logfiles.Open(folder, s.name)
				if err != nil {
					t.Fatal(err)
				}
				copies := []logfiles.Copy{from.open(s, old), from.open(s, other)}
				if restored, err := repair(t, here, copies[1:], filepath.Join(folder, "damaged", s.name)); restored != 1 || err != nil {
					t.Errorf("%d were put back, %v; want one, for the other is not of this history", restored, err)
				}
				after, err := check(here)
				if err != nil || len(after.Gone) != 1 || after.Gone[0].From != 70 || after.Gone[0].To != 70 {
					t.Errorf("after the repair: %+v, %v", after, err)
				}
				if restored, err := repair(t, here, copies, filepath.Join(folder, "damaged", s.name)); restored != 0 || err != nil {
					t.Errorf("again: %d were put back, %v", restored, err)
				}
			})
		})
	}
}

// TestRepairRefuses: a copy of another log is refused.
func TestRepairRefuses(t *testing.T) {
	for _, from := range sources {
		t.Run(from.name, func(t *testing.T) {
			s, other := newStream(t), newStream(t)
			s.fill(5)
			other.fill(5)
			backup := filepath.Join(t.TempDir(), "backup")
			other.copyTo(backup)
			s.DamageNATS(func(folder string) {
				here, err := logfiles.Open(folder, s.name)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := logfiles.Open(backup, s.name); !errors.Is(err, logfiles.ErrNoStream) {
					t.Errorf("a stream of another name: %v", err)
				}
				copies := []logfiles.Copy{from.open(other, backup)}
				if _, err := repair(t, here, copies, filepath.Join(folder, "damaged")); !errors.Is(err, logfiles.ErrOtherStream) {
					t.Errorf("a copy of another log: %v", err)
				}
			})
		})
	}
}
