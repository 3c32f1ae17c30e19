package eventlog_test

import (
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// Two nodes that note the same put one note on the log, however often they do.
func TestOneNoteOfAnID(t *testing.T) {
	l := newLog(t)
	by := errata.Actor{KeyID: errata.ActorService}
	for _, id := range []string{"msg_1.channel-a", "msg_1.channel-a", "msg_1.channel-b", "msg_1.channel-a"} {
		if err := eventlog.AppendNote(t.Context(), l.Log, eventlog.NoteAlertFailed, id, map[string]string{"id": id}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, want := range []string{`{"id":"msg_1.channel-a"}`, `{"id":"msg_1.channel-b"}`} {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactNote || f.Name != eventlog.NoteAlertFailed || string(f.Data) != want || f.By != by || f.Pending != uint64(1-i) {
			t.Errorf("fact %d is %+v, %v", i, f, err)
		}
	}
}
