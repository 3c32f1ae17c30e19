package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const peer = "b.example.org:6222"

// markSuffix ends the subject of a message behind the requests of a transfer.
const markSuffix = "mark"

var terms = Terms{Schema: "26-abc", Fold: 3, Version: "v1"}

// pair is a node that needs tables and one that has some. Their files are of no ClickHouse.
type pair struct {
	t      *testing.T
	env    *testenv.Broker
	giver  *Giver
	source string // the folder of the peer's parts
	files  map[string][]byte
	folder string // of the files at the node that needs them

	marks chan struct{} // of the spy, for each message with markSuffix

	mu     sync.Mutex
	pieces int // that were asked for
	frozen int
	ready  error
	first  uint64
	now    time.Time
	linked []string
	doing  func() string
	said   string // while the tables were linked
	whole  error  // of the files when the tables were linked
	failed error  // of the next Adopt
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, env: testenv.NewBroker(t), source: t.TempDir(), folder: filepath.Join(t.TempDir(), "taken"), marks: make(chan struct{}, 1), files: map[string][]byte{}, first: 90, now: time.Unix(1e9, 0)}
	random := rand.NewChaCha8([32]byte{1})
	for name, size := range map[string]int{
		"records/all_1_1_0/data.bin": 3*pieceBytes + 17, "records/all_1_1_0/by_time.proj/data.bin": 5, "records/all_1_1_0/count.txt": 1,
		"contexts/all_3_9_2/data.bin": pieceBytes, "contexts/all_3_9_2/empty.bin": 0,
	} {
		data := make([]byte, size)
		_, _ = random.Read(data) // which does not fail
		p.files[name] = data
		path := filepath.Join(p.source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	spy, err := p.env.NATS.Subscribe(p.prefix()+"records.>", func(m *nats.Msg) {
		p.mu.Lock()
		defer p.mu.Unlock()
		var r request
		if strings.HasSuffix(m.Subject, markSuffix) {
			p.marks <- struct{}{}
		} else if json.Unmarshal(m.Data, &r) == nil && r.Op == opPiece && r.File > 0 {
			p.pieces++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spy.Unsubscribe() }) // the connection may be closed
	p.give(terms)
	return p
}

func (p *pair) prefix() string { return p.env.Namespace + "." }

// give starts the peer.
func (p *pair) give(own Terms) {
	p.t.Helper()
	var err error
	if p.giver, err = StartGiver(GiverConfig{
		NATS: p.env.NATS, Prefix: p.prefix(), Self: peer, Terms: own, Freeze: p.freeze, Thaw: func() error { return nil },
		Ready: func() error { p.mu.Lock(); defer p.mu.Unlock(); return p.ready },
		Now:   func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return p.now },
	}); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.stopGiving)
}

func (p *pair) stopGiving() {
	if err := p.giver.Stop(context.WithoutCancel(p.t.Context())); err != nil {
		p.t.Error(err)
	}
}

func (p *pair) freeze(context.Context) (uint64, []engine.FrozenTable, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen++
	return 100, []engine.FrozenTable{
		{Name: "contexts", Parts: []engine.FrozenPart{engine.PartAt(filepath.Join(p.source, "contexts/all_3_9_2"), 8)}},
		{Name: "records", Parts: []engine.FrozenPart{engine.PartAt(filepath.Join(p.source, "records/all_1_1_0"), 5)}},
	}, nil
}

// taker is the node that needs tables, as after a start.
func (p *pair) taker() *Taker {
	p.t.Helper()
	t, err := NewTaker(TakerConfig{
		NATS: p.env.NATS, Prefix: p.prefix(), Terms: terms, Folder: p.folder, Logger: slog.New(slog.NewTextHandler(p.t.Output(), nil)),
		First: func(context.Context) (uint64, error) { return p.first, nil },
		Ahead: func(context.Context, uint64) ([]string, error) { return []string{peer}, nil },
		Free:  func() (int64, error) { return 1 << 40, nil },
		Link: func(_ context.Context, t engine.FrozenTable, folder string) error {
			p.linked, p.said = append(p.linked, t.Name), p.doing()
			for name, want := range p.files {
				if table, inside, _ := strings.Cut(name, "/"); table == t.Name {
					have, err := os.ReadFile(filepath.Join(folder, inside))
					if err != nil || !bytes.Equal(have, want) {
						p.whole = errors.Join(p.whole, err, errors.New(name+" is not what the peer has"))
					}
				}
			}
			return nil
		},
		Adopt: func(context.Context) error { err := p.failed; p.failed = nil; return err },
		Drop:  func(context.Context) error { p.linked = nil; return nil },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return t
}

// take takes the tables, and returns how many pieces were asked for.
func (p *pair) take(ctx context.Context) (pieces int, err error) {
	p.t.Helper()
	p.mu.Lock()
	p.pieces = 0
	p.mu.Unlock()
	taker := p.taker()
	p.doing = taker.Doing
	err = taker.Take(ctx)
	if err := p.env.NATS.Publish(p.prefix()+"records."+markSuffix, nil); err != nil {
		p.t.Fatal(err)
	}
	<-p.marks // all requests were counted
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pieces, errors.Join(err, p.whole)
}

const allPieces = 4 + 1 + 1 + 1 // of the files of a pair

// All files arrive as they are, also from a snapshot that another node has asked for, and
// nothing of the transfer stays.
func TestTablesArrive(t *testing.T) {
	p := newPair(t)
	for range 2 {
		pieces, err := p.take(t.Context())
		if err != nil || pieces != allPieces {
			t.Fatalf("%d pieces were asked for, want %d: %v", pieces, allPieces, err)
		}
		if want := "takes the records of node " + peer + ": 0 of 2 MB"; p.said != want {
			t.Errorf("it says %q, want %q", p.said, want)
		}
		if _, err := os.Stat(p.folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of the transfer is still there: %v", err)
		}
	}
	if p.frozen != 1 {
		t.Errorf("the peer has made %d snapshots, want 1", p.frozen)
	}
}

// A transfer that is broken off goes on where it stopped, with another snapshot of the same
// files too. What is not in that goes.
func TestABrokenTransferGoesOn(t *testing.T) {
	p := newPair(t)
	p.failed = errors.New("broken off")
	if _, err := p.take(t.Context()); err == nil {
		t.Fatal("it was not broken off")
	}
	large := filepath.Join(p.folder, "records/all_1_1_0/data.bin")
	if err := errors.Join(os.Rename(large, large+unfinished), os.Truncate(large+unfinished, 2*pieceBytes)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "records", "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.stopGiving()
	p.give(terms)
	p.failed = errors.New("broken off again")
	pieces, err := p.take(t.Context())
	if err == nil {
		t.Fatal("it was not broken off")
	}
	if _, err := os.Stat(filepath.Join(p.folder, "records", "other")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of another snapshot is still there: %v", err)
	}
	if more, err := p.take(t.Context()); err != nil || more > 0 {
		t.Errorf("everything is there, and %d pieces were asked for: %v", more, err)
	}
	if pieces != 2 {
		t.Errorf("%d pieces were asked for, want the last two of the large file", pieces)
	}
	if p.frozen != 2 {
		t.Errorf("the peer has made %d snapshots, want 2", p.frozen)
	}
}

// A node that is stopped in the middle of a file takes the rest after its next start.
func TestStoppedInTheMiddle(t *testing.T) {
	for range 20 { // the answers may be faster than the stop
		if stoppedInTheMiddle(t) {
			return
		}
	}
	t.Fatal("it was never stopped in the middle")
}

// stoppedInTheMiddle is false when all pieces were asked for before the stop.
func stoppedInTheMiddle(t *testing.T) bool {
	p := newPair(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	spy, err := p.env.NATS.Subscribe(p.prefix()+"records.>", func(m *nats.Msg) {
		var r request
		if json.Unmarshal(m.Data, &r) == nil && r.At == 2*pieceBytes {
			cancel() // two pieces of the large file are there
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := p.take(ctx)
	if asked == allPieces {
		return false
	}
	if !errors.Is(err, context.Canceled) || len(p.linked) > 0 {
		t.Fatalf("stopped: %v, and the tables %v are made", err, p.linked)
	}
	if err := spy.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if pieces, err := p.take(t.Context()); err != nil || pieces > allPieces-2 {
		t.Errorf("after that %d pieces were asked for: %v", pieces, err)
	}
	return true
}

// A bit that flips on its way to the disk of this node is found, and the file fetched again. One
// that flips on the disk of the peer stays, and no table is made.
func TestFlippedBits(t *testing.T) {
	p := newPair(t)
	p.failed = errors.New("broken off")
	if _, err := p.take(t.Context()); err == nil {
		t.Fatal("it was not broken off")
	}
	const large, middle = "records/all_1_1_0/data.bin", "contexts/all_3_9_2/data.bin"
	unready := filepath.Join(p.folder, middle)
	testenv.Flip(t, filepath.Join(p.folder, large), 5)
	testenv.Flip(t, unready, 5)
	if err := os.Rename(unready, unready+unfinished); err != nil {
		t.Fatal(err)
	}
	if pieces, err := p.take(t.Context()); err != nil || pieces != 5 {
		t.Errorf("%d pieces were asked for, want the four and one of both files: %v", pieces, err)
	}
	p.linked = nil
	testenv.Flip(t, filepath.Join(p.source, large), 5)
	if _, err := p.take(t.Context()); err == nil || !strings.Contains(err.Error(), large) || len(p.linked) > 0 {
		t.Errorf("a damaged file of the peer: %v, and the tables %v are made", err, p.linked)
	}
}

// Whoever cannot use the tables, or has none to give, says so.
func TestRefusals(t *testing.T) {
	p := newPair(t)
	refused := func(want string) {
		t.Helper()
		if pieces, err := p.take(t.Context()); err == nil || !strings.Contains(err.Error(), want) || pieces > 0 {
			t.Errorf("%d pieces, %v; want an error with %q", pieces, err, want)
		}
	}
	p.ready = errors.New("its own tables are damaged")
	refused("its own tables are damaged")
	p.ready, p.first = nil, 102
	refused("fact 100")
	p.first = 101
	if _, err := p.take(t.Context()); err != nil {
		t.Errorf("the log goes on behind the tables: %v", err)
	}
	p.stopGiving()
	refused("take the records of node " + peer) // nobody answers
	p.give(Terms{Schema: "27-abc", Fold: 3, Version: "v2"})
	refused("update both to the same version")
}

// A snapshot goes when nobody has asked for it for a while.
func TestASnapshotIsLetGo(t *testing.T) {
	p := newPair(t)
	if _, err := p.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	pass := func(d time.Duration) {
		t.Helper()
		p.mu.Lock()
		p.now = p.now.Add(d)
		p.mu.Unlock()
		if err := p.giver.letGo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	pass(heldFor - time.Second)
	if p.giver.held == nil {
		t.Error("it is gone too early")
	}
	pass(time.Second)
	if p.giver.held != nil {
		t.Error("it is still there")
	}
	if _, err := p.take(t.Context()); err != nil || p.frozen != 2 {
		t.Errorf("the next node: %d snapshots, %v", p.frozen, err)
	}
}

// What a peer says is not trusted with paths and statements.
func TestNamesOfAPeer(t *testing.T) {
	for _, s := range []Snapshot{
		{Tables: []engine.FrozenTable{{Name: "a` b"}}},
		{Tables: []engine.FrozenTable{{Name: "a", Parts: []engine.FrozenPart{{Name: "../b"}}}}},
		{Files: []File{{Path: "../a"}}},
		{Files: []File{{Path: "a", Size: -1}}},
	} {
		s.Terms = terms
		if err := s.check(terms, 1); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
