package main

import (
	"slices"
	"strings"
	"testing"
)

func TestErrorsChange(t *testing.T) {
	at, sent := errorsService(t)
	const (
		order, upload = `{"filter":{"signature":"` + orderSignature + `","types":"system"}`, `{"filter":{"signature":"` + uploadSignature + `","types":"database"}`
		orderLine     = " system/" + orderSignature + "  App\\Orders\\Missing: order 42 failed\n"
		uploadLine    = " database/" + uploadSignature + `  \x1b]0;owned\a upload\r\u009b31m failed 漢字` + "\n"
	)
	for _, c := range []struct {
		name, input string
		args        []string
		code        int
		out         string
		changes     []string
	}{
		{"resolve", "", []string{"resolve", "system/0011223344", uploadSignature, "0011223344"}, exitOK, "resolved" + orderLine + "resolved" + uploadLine,
			[]string{"POST " + errorsPath + "/status " + order + `,"status":"resolved"}`, "POST " + errorsPath + "/status " + upload + `,"status":"resolved"}`}},
		{"mute", "", []string{"mute", "database/0011aa"}, exitOK, "muted" + uploadLine, []string{"POST " + errorsPath + "/status " + upload + `,"status":"muted"}`}},
		{"delete", "", []string{"delete", "001122", "--yes"}, exitOK, "deleted" + orderLine, []string{"DELETE " + errorsPath + " " + order + "}"}},
		{"delete, asked", "y\n", []string{"delete", "001122"}, exitOK, "deleted" + orderLine, []string{"DELETE " + errorsPath + " " + order + "}"}},
		{"delete, no", "n\n", []string{"delete", "001122"}, exitFailed, "", nil},
		{"delete, no answer", "", []string{"delete", "001122"}, exitFailed, "", nil},
		{"one of them is unknown", "", []string{"resolve", "001122", "ffff"}, exitFailed, "", nil},
		{"one of them is ambiguous", "", []string{"delete", "--yes", "001122", "0011"}, exitFailed, "", nil},
		{"as JSON", "", []string{"delete", "001122", "--yes", "--json"}, exitOK, `[{"signature":"` + orderSignature + `","type":"system","done":"deleted","count":1}]` + "\n",
			[]string{"DELETE " + errorsPath + " " + order + "}"}},
	} {
		*sent = nil
		got := commandWithInput(t, c.input, nil, append(append([]string{"errors"}, c.args...), at...)...)
		changes := slices.DeleteFunc(slices.Clone(*sent), func(request string) bool { return strings.HasPrefix(request, "?") })
		if got.code != c.code || got.out != c.out || !slices.Equal(changes, c.changes) {
			t.Errorf("%s: %+v, sent %q; want %d %q, sent %q", c.name, got, changes, c.code, c.out, c.changes)
		}
		if bad, found := unsafe(got.err); found {
			t.Errorf("%s: standard error has %U", c.name, bad)
		}
	}
}

func TestDeleteShowsWhatItAsksFor(t *testing.T) {
	at, _ := errorsService(t)
	got := commandWithInput(t, "\n", nil, append([]string{"errors", "delete", "database/0011aa"}, at...)...)
	want := "  database/" + uploadSignature + `  \x1b]0;owned\a upload\r\u009b31m failed 漢字, count 1` + "\ndelete for good? [y/N] errata: delete: nothing was changed; --yes does not ask\n"
	if got.code != exitFailed || got.err != want {
		t.Errorf("%+v, want %q", got, want)
	}
}
