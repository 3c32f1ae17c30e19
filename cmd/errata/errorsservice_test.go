package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// useErrors lists, shows, resolves and deletes at a real service, while a process follows
// it until Ctrl-C.
func useErrors(t *testing.T, data string) {
	at := []string{"--data", data}
	errata := func(args ...string) outcome {
		return command(t, nil, append(append([]string{"errors"}, args...), at...)...)
	}
	listed := func(args ...string) (records []apiRecord) {
		got := errata(append([]string{"list", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(got.out), &records); err != nil || len(records) == 0 {
			t.Fatalf("list %q: %+v, %v", args, got, err)
		}
		return records
	}
	first := listed("--exception_class", "FirstError", "--status", "open")[0]
	if got := errata("list", "--project", "default"); got.code != exitOK || !strings.Contains(got.out, first.shortName()) {
		t.Errorf("list: %+v, want %s", got, first.shortName())
	}
	if got := errata("show", first.shortName()); got.code != exitOK || !strings.Contains(got.out, "FirstError") || !strings.Contains(got.out, "latest        number 1 at 20") {
		t.Errorf("show: %+v", got)
	}

	followResolve(t, at, first)
	completeAtService(t, at, first)

	records := listed("--message", "m")
	i := slices.IndexFunc(records, func(r apiRecord) bool { return r.Message == "m" })
	if i < 0 {
		t.Fatalf("no record of %+v is the one to delete", records)
	}
	if got := errata("delete", records[i].name(), "--yes"); got.code != exitOK || !strings.HasPrefix(got.out, "deleted "+records[i].name()) {
		t.Errorf("delete: %+v", got)
	}
	if got := errata("show", records[i].name()); got.code != exitFailed || !strings.Contains(got.err, "there is no record") {
		t.Errorf("show of a deleted record: %+v", got)
	}
}

// followResolve resolves a record while a process follows the service until Ctrl-C.
func followResolve(t *testing.T, at []string, first apiRecord) {
	t.Helper()
	follow := exec.CommandContext(t.Context(), os.Args[0], append([]string{"errors", "tail", "--project", "default"}, at...)...)
	follow.Env = append(os.Environ(), asProgram+"=1")
	out, errOut := follow.StdoutPipe()
	about, errAbout := follow.StderrPipe()
	if errOut != nil || errAbout != nil {
		t.Fatal(errOut, errAbout)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(about).ReadString('\n'); line != tailConnected+"\n" {
		t.Fatalf("tail says %q, %v", line, err)
	}
	if got := command(t, nil, append([]string{"errors", "resolve", first.shortName()}, at...)...); got.code != exitOK || !strings.HasPrefix(got.out, "resolved "+first.name()+"  FirstError") {
		t.Errorf("resolve: %+v", got)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, first.shortName()) || !strings.Contains(line, "resolved") {
		t.Errorf("tail shows %q, %v", line, err)
	}
	if err := follow.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("tail after Ctrl-C: %v, want code 0", err)
	}
}

// completeAtService completes as a shell does.
func completeAtService(t *testing.T, at []string, first apiRecord) {
	t.Helper()
	for flag, want := range map[string]string{"--project": "order-desk\n", "--levels": "fatal\n"} {
		if got := command(t, nil, append([]string{"__complete", "errors", "list"}, append(at, flag, "")...)...); !strings.Contains(got.out, want) {
			t.Errorf("completion of %s: %+v, want %q", flag, got, want)
		}
	}
	if got := command(t, nil, append([]string{"__complete", "errors", "resolve"}, append(at, "system/")...)...); !strings.Contains(got.out, first.shortName()+"\n") {
		t.Errorf("completion of a record: %+v", got)
	}
}
