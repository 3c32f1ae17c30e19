package eventlog_test

import (
	"testing"

	"github.com/errata-log/errata/eventlog"
)

// Two nodes that tick at the same minute put one tick on the log.
func TestOneTickAMinute(t *testing.T) {
	l := newLog(t)
	if _, found, err := eventlog.LastTick(t.Context(), l.Log); found || err != nil {
		t.Fatalf("a new log has a tick: %v, %v", found, err)
	}
	for _, tick := range []eventlog.Tick{{Minute: 100, Since: 90}, {Minute: 100, Since: 99}, {Minute: 101, Since: 90}} {
		if err := eventlog.AppendTick(t.Context(), l.Log, tick); err != nil {
			t.Fatal(err)
		}
	}
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []eventlog.Tick{{Version: 1, Minute: 100, Since: 90}, {Version: 1, Minute: 101, Since: 90}} {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactTick {
			t.Fatalf("%+v, %v", f, err)
		}
		if got, ok := eventlog.DecodeTick(f.Data); !ok || got != want {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
		if f.Pending == 0 {
			if last, found, err := eventlog.LastTick(t.Context(), l.Log); err != nil || !found || last != want {
				t.Errorf("last tick %+v, %v, %v", last, found, err)
			}
		}
	}
}

// What no tick of this version says is left out.
func TestTicksThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "null", "[]", "{", `{"v":1}`, `{"v":2,"minute":100,"since":90}`, `{"v":1,"minute":0,"since":0}`, `{"v":1,"minute":-5,"since":-9}`,
		`{"v":1,"minute":100,"since":101}`, `{"v":1,"minute":100,"since":-1}`, `{"v":1,"minute":9000000000,"since":1}`, `{"v":1,"minute":"100"}`,
	} {
		if tick, ok := eventlog.DecodeTick([]byte(text)); ok || tick != (eventlog.Tick{}) {
			t.Errorf("%s is a tick: %+v", text, tick)
		}
	}
	const whole = `{"v":1,"minute":100,"since":90}`
	for n := range len(whole) {
		if _, ok := eventlog.DecodeTick([]byte(whole[:n])); ok {
			t.Errorf("%s is a tick", whole[:n])
		}
	}
	if _, ok := eventlog.DecodeTick([]byte(whole)); !ok {
		t.Error("a tick is none")
	}
}
