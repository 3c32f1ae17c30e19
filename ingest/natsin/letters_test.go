package natsin

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// watched counts the calls that failed.
type watched struct {
	Accepter
	failed *atomic.Int32
}

func (w watched) AcceptTo(ctx context.Context, src ingest.Source, drafts []ingest.Draft, store ingest.Store) (ingest.Receipt, error) {
	receipt, err := w.Accepter.AcceptTo(ctx, src, drafts, store)
	if err != nil {
		w.failed.Add(1)
	}
	return receipt, err
}

// A message that cannot become an event becomes a dead letter with a reason and
// without its secrets. It does not block the others.
func TestPoisonBecomesLetters(t *testing.T) {
	b := newBench(t)
	type poisoned struct{ body, reason, kept string }
	poison := []poisoned{
		{`not JSON, password=hunter2`, "invalid_body", "not JSON, password=[Filtered]"},
		{`{"message":7,"password":"hunter2"}`, "invalid_event", `{"message":7,"password":"[Filtered]"}`},
		{`{"level":"loud","message":"x"}`, "invalid_level", `{"level":"loud","message":"x"}`},
		{`[{"message":"x"}]`, "invalid_event", `[{"message":"x"}]`},
		{`{}`, "invalid_event", `{}`},
		{"", "invalid_body", ""},
		{"{\"message\":\"\\u200b\"}", "invalid_event", "{\"message\":\"\u200b\"}"},
		{`{"message":7,"x":"` + strings.Repeat("long ", 60_000) + `"}`, "invalid_event", ""},
	}
	b.start()
	for i, p := range poison {
		b.publish("system", p.body)
		b.publishMany(i, i+1)
	}
	b.awaitEmpty()
	b.wantOnce(len(poison))
	letters, total, err := NewLetters(b.queues, ingest.Rules{}).List(t.Context(), 0, 100)
	if err != nil || total != uint64(len(poison)) || len(letters) != len(poison) {
		t.Fatalf("%d letters of %d, error %v, want %d", len(letters), total, err, len(poison))
	}
	// Within a batch the letters may have any order.
	for _, letter := range letters {
		i := slices.IndexFunc(poison, func(p poisoned) bool {
			return letter.Cut && len(p.body) > maxLetter || !letter.Cut && letter.Body == p.kept
		})
		if i < 0 || len(letter.Body) > maxLetter {
			t.Errorf("a letter keeps %d bytes, cut %t, begins %.40q: of no message that is left", len(letter.Body), letter.Cut, letter.Body)
			continue
		}
		if p := poison[i]; string(letter.Reason) != p.reason || letter.Why == "" || letter.Subject != "errors.v1.system" || time.Time(letter.At).IsZero() {
			t.Errorf("letter of %.40q: %+v, want the reason %s", p.body, letter, p.reason)
		}
		poison = slices.Delete(poison, i, i+1)
	}
	if page, _, err := NewLetters(b.queues, ingest.Rules{}).List(t.Context(), letters[2].ID, 2); err != nil || len(page) != 2 || page[0].ID != letters[3].ID {
		t.Errorf("the page behind the third is %+v, error %v", page, err)
	}
}

// A letter that is good now becomes one event when it is published again, and so does
// one that was good before.
func TestLettersArePublishedAgain(t *testing.T) {
	b := newBench(t)
	l := NewLetters(b.queues, ingest.Rules{})
	put := func(sequence uint64, body string) {
		t.Helper()
		m := message{subject: "errors.v1.database", data: []byte(body), header: func(string) string { return "" }, sequence: sequence, stamp: 3}
		if err := l.put(t.Context(), &m, 5, errata.Errorf(errata.KindInvalidEvent, "an older version did not know it")); err != nil {
			t.Fatal(err)
		}
	}
	put(1, `{"message":"good"}`)
	put(1, `{"message":"good"}`) // a second try with the same message
	put(2, `still bad`)
	put(3, strings.Repeat("much ", 20_000))
	put(4, `{"message":"later"}`)
	b.start()
	before, total, err := l.List(t.Context(), 0, 100)
	if err != nil || total != 4 {
		t.Fatalf("%d letters, error %v, want 4", total, err)
	}
	// As after a crash between publishing and dropping: both copies are one event.
	stream, err := l.stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	msg, err := stream.GetMsg(t.Context(), before[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if why, err := l.replay(t.Context(), msg); why != "" || err != nil {
		t.Fatal(why, err)
	}
	done, left, err := l.Replay(t.Context(), []uint64{before[0].ID, before[1].ID, before[2].ID, 99, 0})
	if err != nil || done != 2 || len(left) != 3 || left[0].ID != before[2].ID || left[1].ID != 99 || left[2].ID != 0 {
		t.Fatalf("%d published again, %+v left, error %v; want 2 and those three", done, left, err)
	}
	b.awaitEmpty()
	entries := b.logged()
	if len(entries) != 2 || entries[0].ID != entries[1].ID || entries[0].ID != ingest.EventID(7, "nats-5-1-3") || entries[0].Book != errata.BookDatabase {
		t.Errorf("the log has %+v, want the event twice under one id", entries)
	}
	b.await("the bad one is a letter again", func() bool { return b.state(b.queues.Dead).Msgs == 3 })
	if done, left, err = l.Replay(t.Context(), nil); err != nil || done != 2 || len(left) != 1 {
		t.Errorf("%d published again, %+v left, error %v; want 2 and the one that was cut", done, left, err)
	}
	b.awaitEmpty()
	if done, left, err = l.Drop(t.Context(), nil); err != nil || done != 2 || len(left) != 0 {
		t.Errorf("%d dropped, %+v left, error %v; want 2", done, left, err)
	}
	if _, total, err := l.List(t.Context(), 0, 1); err != nil || total != 0 {
		t.Errorf("%d letters are left, error %v", total, err)
	}
}

// A message that is cut at any byte is refused or becomes one event.
func TestTruncatedMessages(t *testing.T) {
	const whole = `{"id":"a","message":"broken é","level":"error","file":"a.go","line":3,"frames":[{"file":"b.go","args":["x",1]}],"payload":{"a":[1,2]}}`
	for n := range len(whole) {
		m := message{subject: "errors.v1.system", data: []byte(whole[:n]), header: func(string) string { return "" }}
		if _, refused := m.draft(1); refused == nil || refused.Kind != errata.KindInvalidBody {
			t.Errorf("%q is taken, or refused for %v", m.data, refused)
		}
	}
	for subject, kind := range map[string]errata.Kind{"errors.v1.": errata.KindInvalidType, "errors.v1.other": errata.KindInvalidType, "errors.v2.system": errata.KindInvalidType} {
		m := message{subject: subject, data: []byte(whole), header: func(string) string { return "" }}
		if _, refused := m.draft(1); refused == nil || refused.Kind != kind {
			t.Errorf("%s: %v, want %s", subject, refused, kind)
		}
	}
	large := message{subject: "errors.v1.system", data: make([]byte, ingest.MaxEvent+1), header: func(string) string { return "" }}
	if _, refused := large.draft(1); refused == nil || refused.Kind != errata.KindBodyTooLarge {
		t.Errorf("a large message: %v", refused)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("errors.v1.system", `{"id":"a","message":"x"}`, "id")
	f.Add("errors.v1.database", `{"message":"x","payload":{}}`, "")
	f.Add("errors.v1.database", "\xff{", "\x00")
	f.Fuzz(func(t *testing.T, subject, body, id string) {
		m := message{subject: subject, data: []byte(body), header: func(string) string { return id }}
		draft, refused := m.draft(1)
		if refused == nil && (draft.ClientID == "" || draft.Book == errata.BookUnknown) {
			t.Errorf("an event without id or book: %+v", draft)
		}
		if kept, cut := NewLetters(Queues{}, ingest.Rules{}).body(m.data); len(kept) > maxLetter+len("…") || cut && len(body) <= maxLetter {
			t.Errorf("%d bytes of %d are kept, cut %v", len(kept), len(body), cut)
		}
	})
}
