package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
)

func startNATS(t *testing.T, folder string) *engine.NATS {
	t.Helper()
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: folder, MaxStore: 256 << 20, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
	return n
}

func createStream(t *testing.T, n *engine.NATS, c jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	s, err := n.JetStream().CreateStream(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// copies are copies of streams, which restore makes anew in another folder.
type copies struct {
	list  []engine.StreamCopy
	bytes map[string][]byte
}

func (c *copies) take(t *testing.T, n *engine.NATS, name string) error {
	t.Helper()
	var out bytes.Buffer
	s, err := n.CopyStream(t.Context(), name, &out)
	if err == nil {
		c.list = append(c.list, s)
		c.bytes[name] = out.Bytes()
	}
	return err
}

func (c *copies) restore(t *testing.T) *engine.NATS {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "nats")
	if err := engine.RestoreStreams(t.Context(), engine.NATSConfig{StoreDir: folder, MaxStore: 1 << 40, Logger: quiet}, c.list,
		func(s engine.StreamCopy) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(c.bytes[s.Name])), nil
		}); err != nil {
		t.Fatal(err)
	}
	n := startNATS(t, folder)
	if err := engine.CheckCopies(t.Context(), n.JetStream(), c.list); err != nil {
		t.Fatal(err)
	}
	return n
}

// stored reads all messages of a stream, as texts by their sequence.
func stored(t *testing.T, n *engine.NATS, name string) map[uint64]string {
	t.Helper()
	s, err := n.JetStream().Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	state, all := s.CachedInfo().State, map[uint64]string{}
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all[seq] = fmt.Sprint(m.Subject, m.Header, string(m.Data), m.Time.UnixNano())
	}
	return all
}

// A copy that is made while a stream grows ends at one sequence; restored it has the
// same messages under the same numbers, and goes on behind them.
//
// long: one stream, its copy and what is made of it.
func TestCopyOfAStreamThatGrows(t *testing.T) {
	n, c := startNATS(t, t.TempDir()), &copies{bytes: map[string][]byte{}}
	s := createStream(t, n, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"ev.>"}, DenyDelete: true, Discard: jetstream.DiscardNew, MaxBytes: 64 << 20})
	createStream(t, n, jetstream.StreamConfig{Name: "EMPTY", Subjects: []string{"none"}})
	publish := func(i int) {
		if _, err := n.JetStream().PublishMsg(t.Context(), &nats.Msg{
			Subject: fmt.Sprint("ev.", i%7), Data: bytes.Repeat([]byte{byte(i)}, 3000), Header: nats.Header{"N": {fmt.Sprint(i)}},
		}); err != nil {
			t.Error(err)
		}
	}
	for i := range 300 {
		publish(i)
	}
	if err := s.Purge(t.Context(), jetstream.WithPurgeSequence(101)); err != nil {
		t.Fatal(err)
	}
	if _, err := n.JetStream().Publish(t.Context(), "none", nil); err != nil {
		t.Fatal(err)
	}
	empty, err := n.JetStream().Stream(t.Context(), "EMPTY")
	if err == nil {
		err = empty.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		for i := 300; ; i++ {
			select {
			case <-done:
				return
			default:
				publish(i)
			}
		}
	})
	err = errors.Join(c.take(t, n, "LOG"), c.take(t, n, "EMPTY"))
	publish(0)
	close(done)
	working.Wait()
	if err != nil {
		t.Fatal(err)
	}
	want, got := stored(t, n, "LOG"), stored(t, c.restore(t), "LOG")
	first, last := c.list[0].First, c.list[0].Last
	if first != 101 || last < 300 || len(got) != int(last-first)+1 || len(want) <= len(got) {
		t.Fatalf("the copy has %d to %d, restored %d messages, now there are %d", first, last, len(got), len(want))
	}
	for seq, text := range got {
		if want[seq] != text {
			t.Fatalf("message %d is %.80q, was %.80q", seq, text, want[seq])
		}
	}
	back := c.restore(t)
	for subject, want := range map[string]uint64{"ev.0": last + 1, "none": 2} {
		if ack, err := back.JetStream().Publish(t.Context(), subject, nil); err != nil || ack.Sequence != want {
			t.Errorf("the next message on %s: %+v, %v; want %d", subject, ack, err, want)
		}
	}
}

// A bucket whose keys are replaced while it is copied either has all of them in the
// copy, or the copy says that it is not whole.
func TestCopyOfABucketThatChanges(t *testing.T) {
	n := startNATS(t, t.TempDir())
	const keys = 400
	createStream(t, n, jetstream.StreamConfig{Name: "KV_b", Subjects: []string{"b.>"}, MaxMsgsPerSubject: 1})
	put := func(i int) {
		if _, err := n.JetStream().Publish(t.Context(), fmt.Sprint("b.", i%keys), bytes.Repeat([]byte("x"), 2000)); err != nil {
			t.Error(err)
		}
	}
	for i := range keys {
		put(i)
	}
	for _, pause := range []time.Duration{0, 50 * time.Millisecond} {
		stop := changing(pause, put)
		t.Cleanup(stop)
		incomplete, whole := 0, 0
		for tries := 0; tries < 40 || pause == 0 && incomplete == 0 && tries < 2000; tries++ { // on a busy machine a copy is faster than a change
			c := &copies{bytes: map[string][]byte{}}
			err := c.take(t, n, "KV_b")
			if errors.Is(err, engine.ErrCopyIncomplete) {
				incomplete++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			whole++
			// A message may be there that the newest one is about to replace.
			among := c.list[0].Messages - keys
			if among > 1 {
				t.Fatalf("the copy has %d keys of %d", c.list[0].Messages, keys)
			}
			if whole == 1 || among == 1 {
				back := c.restore(t)
				if got := stored(t, back, "KV_b"); len(got) != keys {
					t.Fatalf("restored %d keys of %d", len(got), keys)
				}
				for messages, right := range map[uint64]bool{keys - 1: false, keys: true, keys + 1: true, keys + 2: false} {
					c.list[0].Messages = messages
					if err := engine.CheckCopies(t.Context(), back.JetStream(), c.list); (err == nil) != right {
						t.Errorf("%d restored keys of a copy with %d messages: %v", keys, messages, err)
					}
				}
			}
		}
		stop()
		t.Logf("a change each %v: %d copies are whole, %d say that they are not", pause, whole, incomplete)
		if pause == 0 && incomplete == 0 || pause > 0 && whole == 0 {
			t.Errorf("a change each %v: %d copies are whole, %d are not", pause, whole, incomplete)
		}
	}
}

// changing calls put again and again, with a pause, until stop.
func changing(pause time.Duration, put func(i int)) (stop func()) {
	done := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		tick := time.NewTicker(max(pause, time.Microsecond))
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-tick.C:
				put(i)
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		working.Wait()
	})
}

// A copy whose reader fails is an error, and so is one that is cut off.
func TestCopyThatFails(t *testing.T) {
	n, c := startNATS(t, t.TempDir()), &copies{bytes: map[string][]byte{}}
	createStream(t, n, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"ev"}})
	for range 200 {
		if _, err := n.JetStream().Publish(t.Context(), "ev", bytes.Repeat([]byte("x"), 5000)); err != nil {
			t.Fatal(err)
		}
	}
	in, out := io.Pipe()
	broken := errors.New("the disk is full")
	_ = in.CloseWithError(broken)
	if _, err := n.CopyStream(t.Context(), "LOG", out); !errors.Is(err, broken) {
		t.Errorf("the writer fails: %v", err)
	}
	if err := c.take(t, n, "NONE"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("no stream: %v", err)
	}
	if err := c.take(t, n, "LOG"); err != nil {
		t.Fatal(err)
	}
	c.bytes["LOG"] = c.bytes["LOG"][:len(c.bytes["LOG"])/2]
	if err := engine.RestoreStreams(t.Context(), engine.NATSConfig{StoreDir: t.TempDir(), MaxStore: 1 << 40, Logger: quiet}, c.list,
		func(s engine.StreamCopy) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(c.bytes[s.Name])), nil
		}); err == nil {
		t.Error("half a copy was restored")
	}
}
