package door_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/quota"
)

// grant is of the key whose turns are asked for here.
var grant = access.Grant{Project: 1, KeyID: "key"}

func newQuotas(t *testing.T) *quota.Quotas {
	t.Helper()
	quotas, err := quota.New(quota.Config{KeyPerMinute: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	return quotas
}

func newDoor(t *testing.T, quotas *quota.Quotas) *door.Door {
	t.Helper()
	d, err := door.New("test", door.Config{Accepter: &doortest.Recorder{}, Keyring: doortest.Keys{}, Quotas: quotas})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// freely lets every body be read at once. entered is called for each turn.
type freely struct{ entered func(again bool) error }

func (freely) Read(context.Context, bool) (read, leave func(), err error) {
	return func() {}, func() {}, nil
}

func (f freely) Enter(_ context.Context, _ int64, again bool) (*quota.Turn, error) {
	return &quota.Turn{}, f.entered(again)
}

// told is a reader that says when its text was read to the end.
type told struct {
	io.Reader
	read chan struct{}
}

func newTold(text string) told { return told{strings.NewReader(text), make(chan struct{})} }

func (r told) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		close(r.read)
	}
	return n, err
}

// outcome is what a body gave.
type outcome struct {
	bytes int
	err   error
}

// readAll opens a body of the text, reads it to its end and closes it.
func readAll(d *door.Door, text io.Reader) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() { // ends with the body
		b, err := d.Open(httptest.NewRecorder(), request(io.MultiReader(text), ""), grant, 0)
		if err != nil {
			ended <- outcome{err: err}
			return
		}
		got, err := io.ReadAll(b)
		b.Close()
		ended <- outcome{len(got), err}
	}()
	return ended
}

func holdTurns(t *testing.T, quotas *quota.Quotas) *quota.Turn {
	t.Helper()
	turn, err := quotas.EnterLarge(t.Context(), grant, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return &turn
}

// A large body is read while its request waits for its turn, and a small one needs none.
func TestALargeBodyWaitsForItsTurn(t *testing.T) {
	quotas := newQuotas(t)
	d := newDoor(t, quotas)
	turn := holdTurns(t, quotas)
	large := newTold(strings.Repeat("x", 300<<10))
	ended := readAll(d, large)
	<-large.read
	if o := <-readAll(d, strings.NewReader(strings.Repeat("x", 32<<10))); o.bytes != 32<<10 || o.err != nil {
		t.Errorf("a small body: %+v", o)
	}
	select {
	case o := <-ended:
		t.Errorf("the large body did not wait: %+v", o)
	default:
	}
	turn.Leave()
	if o := <-ended; o.bytes != 300<<10 || o.err != nil {
		t.Errorf("the large body: %+v", o)
	}
	if n := d.Budget.InUse(); n != 0 {
		t.Errorf("%d bytes are held after the end", n)
	}
}

// What used up the quota while a large body waited refuses it, before any of it is parsed.
func TestALargeBodyIsRefusedInItsTurn(t *testing.T) {
	for name, small := range map[string]bool{"large from the beginning": false, "small at first": true} {
		quotas := newQuotas(t)
		d := newDoor(t, quotas)
		turn := holdTurns(t, quotas)
		text := newTold(strings.Repeat("x", 300<<10))
		r := request(text, "")
		if !small {
			r.ContentLength = 300 << 10
		}
		b, err := d.Open(httptest.NewRecorder(), r, grant, 0)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan outcome, 1)
		go func() { // ends with the turn
			got, err := io.ReadAll(b)
			ended <- outcome{len(got), err}
		}()
		<-text.read
		quotas.Charge(grant, 1_000_000)
		turn.Leave()
		o := <-ended
		if errata.KindOf(o.err) != errata.KindRateLimited || !small && o.bytes != 0 || o.bytes > 64<<10 {
			t.Errorf("%s: %+v", name, o)
		}
		b.Close()
		if n := d.Budget.InUse(); n != 0 {
			t.Errorf("%s: %d bytes are held after the end", name, n)
		}
		holdTurns(t, quotas).Leave() // the refused request has no turn
		free, err := d.OpenFree(httptest.NewRecorder(), request(strings.NewReader(strings.Repeat("x", 300<<10)), ""), grant, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(free); err != nil || len(got) != 300<<10 {
			t.Errorf("a body without events: %d bytes, %v", len(got), err)
		}
		free.Close()
	}
}

// A large body whose quota is used up is not even read.
func TestALargeBodyOverItsQuotaIsNotRead(t *testing.T) {
	quotas := newQuotas(t)
	quotas.Charge(grant, 1_000_000)
	text := strings.NewReader(strings.Repeat("x", 300<<10))
	if o := <-readAll(newDoor(t, quotas), text); errata.KindOf(o.err) != errata.KindRateLimited || text.Len() < 200<<10 {
		t.Errorf("%+v, %d bytes are left", o, text.Len())
	}
}

// A sender that stops in the middle of its body has no turn, before its first one and
// between two.
func TestASlowSenderHasNoTurn(t *testing.T) {
	quotas := newQuotas(t)
	d := newDoor(t, quotas)
	for _, size := range []int{100 << 10, 2 << 20} {
		slow := &halting{text: strings.NewReader(strings.Repeat("x", size)), asked: make(chan struct{}), goOn: make(chan struct{})}
		ended := readAll(d, slow)
		<-slow.asked
		holdTurns(t, quotas).Leave()
		close(slow.goOn)
		if o := <-ended; errata.KindOf(o.err) != errata.KindInvalidBody {
			t.Errorf("%d bytes and a stop: %+v", size, o)
		}
		if n := d.Budget.InUse(); n != 0 {
			t.Errorf("%d bytes are held after the end", n)
		}
	}
	holdTurns(t, quotas).Leave()
}

// Few large bodies of a key are read before their turn, and the others wait unread. Senders
// that are slow do not count.
func TestFewBodiesAreReadAhead(t *testing.T) {
	quotas := newQuotas(t)
	d := newDoor(t, quotas)
	turn := holdTurns(t, quotas)
	slow := &halting{text: strings.NewReader(strings.Repeat("x", 100<<10)), asked: make(chan struct{}), goOn: make(chan struct{})}
	ended := []<-chan outcome{readAll(d, slow)}
	<-slow.asked
	const most, more = 2, 6
	read := make(chan struct{}, more)
	for range most + more {
		text := newTold(strings.Repeat("x", 100<<10))
		ended = append(ended, readAll(d, text))
		go func() { // ends with the text
			<-text.read
			read <- struct{}{}
		}()
	}
	for range most {
		<-read
	}
	select {
	case <-read:
		t.Errorf("more than %d bodies were read", most)
	case <-time.After(150 * time.Millisecond): // reason: only time shows that no body is read
	}
	turn.Leave()
	for range more {
		<-read
	}
	close(slow.goOn)
	for i, e := range ended {
		if o := <-e; (i == 0) != (errata.KindOf(o.err) == errata.KindInvalidBody) {
			t.Errorf("body %d: %+v", i, o)
		}
	}
	if n := d.Budget.InUse(); n != 0 {
		t.Errorf("%d bytes are held after the end", n)
	}
}

// Turns change nothing in a body: each coding gives the same bytes, and a large body has
// its turn again for each part that is read ahead.
func TestTurnsChangeNoBody(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	noise := make([]byte, 1200<<10)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var blanks []byte
	for i := range 9 {
		blanks = append(append(blanks, noise[700*i:][:700]...), bytes.Repeat([]byte{' '}, 30_000)...)
	}
	for _, c := range codings {
		for name, content := range map[string][]byte{
			"small": noise[:20<<10], "large": noise[:200<<10], "in parts": noise, "only when open": blanks,
		} {
			packed := pack(t, c.pack, content)
			for form, reader := range map[string]io.Reader{
				"with a length": bytes.NewReader(packed), "chunked": io.MultiReader(bytes.NewReader(packed)), "by halves": iotest.HalfReader(bytes.NewReader(packed)),
			} {
				budget := door.NewBudget(0)
				var turns []bool
				got, err := open(request(reader, c.header), door.Options{Budget: budget, Sender: known, Turns: freely{func(again bool) error {
					turns = append(turns, again)
					return nil
				}}})
				if err != nil || !bytes.Equal(got, content) || budget.InUse() != 0 {
					t.Errorf("%s, %s, %s: %d bytes of %d, %v, %d bytes held", c.name, name, form, len(got), len(content), err, budget.InUse())
				}
				if large := len(content) > 32<<10; large != (len(turns) > 0) || name == "in parts" && len(packed) > 1<<20 && len(turns) < 2 {
					t.Errorf("%s, %s, %s: %d turns for %d bytes", c.name, name, form, len(turns), len(packed))
				}
				for i, again := range turns {
					if again != (i > 0) {
						t.Errorf("%s, %s, %s: turn %d of a body came as %v", c.name, name, form, i, turns)
					}
				}
			}
		}
	}
}

// With a spent budget less is read ahead, and the body is whole nevertheless.
func TestASpentBudgetReadsLessAhead(t *testing.T) {
	budget := door.NewBudget(200 << 10)
	content := strings.Repeat("x", 500<<10)
	var turns int
	got, err := open(request(strings.NewReader(content), ""), door.Options{Budget: budget, Sender: known, Turns: freely{func(bool) error {
		if turns++; budget.InUse() > 200<<10 {
			t.Errorf("%d bytes are held", budget.InUse())
		}
		return nil
	}}})
	if err != nil || string(got) != content || turns < 2 {
		t.Errorf("%d bytes of %d, %v, in %d turns", len(got), len(content), err, turns)
	}
}

// A body whose turn is refused gives that error, also through a decompressor.
func TestARefusedTurnIsToldAsItIs(t *testing.T) {
	for _, c := range codings {
		packed := pack(t, c.pack, bytes.Repeat([]byte("some text "), ingest.RatioGrace/10))
		refused := errata.Errorf(errata.KindOverloaded, "no turn")
		_, err := open(request(bytes.NewReader(packed), c.header), door.Options{Turns: freely{func(bool) error { return refused }}})
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
