package eventlog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestSignIns: facts of sign-ins are on the log in order and with their actors, and
// the reader of outcomes leaves out all others.
func TestSignIns(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	by := errata.Actor{KeyID: "000000000007", Route: "POST /x"}
	ctx := errata.WithActor(t.Context(), by)
	for i := range 3 {
		for at, name := range []string{eventlog.SignInEvaluate, eventlog.SignInOutcome} {
			if seq, err := eventlog.AppendSignIn(ctx, l.Log, name, i); err != nil || seq != uint64(3*i+at+1) {
				t.Fatalf("%s %d is at %d, %v", name, i, seq, err)
			}
		}
		if err := a.Append(ctx, []errata.Event{event(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if f, err := all.Next(t.Context()); err != nil || f.Kind != eventlog.FactSignIn || f.Name != eventlog.SignInEvaluate || string(f.Data) != "0" || f.By != by {
		t.Errorf("the first fact is %+v, %v", f, err)
	}
	r, err := eventlog.NewOutcomesReader(t.Context(), l.Log, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := 1; i < 3; i++ {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactSignIn || f.Name != eventlog.SignInOutcome || f.Sequence != uint64(3*i+2) || string(f.Data) != fmt.Sprint(i) {
			t.Errorf("read %+v, %v, want outcome %d", f, err, i)
		}
	}
}

// TestSignInsWithoutALog: the caller gets an error within its time.
func TestSignInsWithoutALog(t *testing.T) {
	l := newLog(t)
	if _, err := eventlog.AppendSignIn(t.Context(), l.Log, eventlog.SignInOutcome, make(chan int)); err == nil {
		t.Error("what is no JSON was appended")
	}
	l.Log.Stream = "NOTHING"
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := eventlog.AppendSignIn(ctx, l.Log, eventlog.SignInOutcome, 1); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("error %v, want log_unavailable", err)
	}
}
