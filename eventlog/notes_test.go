package eventlog_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// Two nodes that note the same put one note on the log, however often they do.
func TestOneNoteOfAnID(t *testing.T) {
	l := newLog(t)
	for _, id := range []string{"msg_1.channel-a", "msg_1.channel-a", "msg_1.channel-b", "msg_1.channel-a"} {
		if err := eventlog.AppendNote(t.Context(), l.Log, eventlog.NoteAlertFailed, id, map[string]string{"id": id}); err != nil {
			t.Fatal(err)
		}
	}
	by := errata.Actor{KeyID: "k1", KeyName: "ada"}
	if err := eventlog.AppendNote(errata.WithActor(t.Context(), by), l.Log, eventlog.NoteNodeLeft, "c.1", map[string]string{"id": "c.1"}); err != nil {
		t.Fatal(err)
	}
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	service := errata.Actor{KeyID: errata.ActorService}
	for i, want := range []struct {
		name, body string
		by         errata.Actor
	}{
		{eventlog.NoteAlertFailed, `{"id":"msg_1.channel-a"}`, service},
		{eventlog.NoteAlertFailed, `{"id":"msg_1.channel-b"}`, service},
		{eventlog.NoteNodeLeft, `{"id":"c.1"}`, by},
	} {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactNote || f.Name != want.name || string(f.Data) != want.body || f.By != want.by || f.Pending != uint64(2-i) {
			t.Errorf("fact %d is %+v, %v; want %+v", i, f, err, want)
		}
	}
}
