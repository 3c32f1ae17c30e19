package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// childOutput is what a child wrote, with the kinds of line that occur.
const childOutput = `2026.11.21 06:35:08.567568 [ 321 ] {} <Warning> Access(user directories): a directory is missing
2026.11.21 06:35:09.170320 [ 341 ] {e6eea951} <Error> executeQuery: Code: 60. DB::Exception: no table (in query: SELECT 'a secret')
2026.11.21 06:35:09.177372 [ 341 ] {} <Error> TCPHandler: Code: 60. DB::Exception: no table, Stack trace (when copying this message, always include the lines below):

0. ? @ 0x000000001c8fa4b3
22. start_thread @ 0x00000000000891f5
2026.11.21 06:35:09.177448 [ 341 ] {} <Error> MergeTreeBackgroundExecutor: Code: 241. DB::Exception: memory (in query: INSERT 'a secret')
2026.11.21 06:35:09.177474 [ 341 ] {} <Fatal> BaseDaemon: (version 26.7) Received signal 11
2026.11.21 06:35:09.178000 [ 344 ] {} <Warning> BackgroundSchedulePool/BgStrmSchPool: Temporarily pause scheduling of tasks with id 1
2026.11.21 06:35:09.178100 [ 345 ] {} <Error> virtual bool DB::MergePlainMergeTreeTask::executeStep(): Exception is in merge_task.: Code: 236. DB::Exception: Cancelled merging parts. (ABORTED)
Code: 76. DB::Exception: Cannot lock file /data/status. (CANNOT_OPEN_FILE)
errata-engine: something of ours
`

const childRecords = `level=WARN msg="a directory is missing" component="Access(user directories)"
level=ERROR msg="Code: 241. DB::Exception: memory" component=MergeTreeBackgroundExecutor
level=ERROR msg="(version 26.7) Received signal 11" component=BaseDaemon
level=DEBUG msg="Temporarily pause scheduling of tasks with id 1" component=BackgroundSchedulePool/BgStrmSchPool
level=DEBUG msg="Exception is in merge_task.: Code: 236. DB::Exception: Cancelled merging parts. (ABORTED)" component="virtual bool DB::MergePlainMergeTreeTask::executeStep()"
level=WARN msg="Code: 76. DB::Exception: Cannot lock file /data/status. (CANNOT_OPEN_FILE)"
level=WARN msg="errata-engine: something of ours"
`

const childTail = "Code: 76. DB::Exception: Cannot lock file /data/status. (CANNOT_OPEN_FILE) errata-engine: something of ours"

func newChildLog() (*childLog, *bytes.Buffer) {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	return &childLog{log: slog.New(handler)}, &out
}

// The output arrives in pieces of any size.
func TestChildLog(t *testing.T) {
	for size := 1; size <= len(childOutput); size = size*2 + 1 {
		c, out := newChildLog()
		for rest := childOutput; rest != ""; {
			piece := rest[:min(size, len(rest))]
			if n, err := c.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
			rest = rest[len(piece):]
		}
		if got := c.last(); got != childTail {
			t.Errorf("in pieces of %d: last = %q, want %q", size, got, childTail)
		}
		if got := out.String(); got != childRecords {
			t.Errorf("in pieces of %d: records\n%s\nwant\n%s", size, got, childRecords)
		}
	}
}

func TestChildLogIsBounded(t *testing.T) {
	c, out := newChildLog()
	if _, err := c.Write(bytes.Repeat([]byte("goroutine 1 [running]\n"), 10_000)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != maxPlainLines {
		t.Errorf("%d records of one crash, want %d", got, maxPlainLines)
	}
	if len(c.rest) > 64<<10 {
		t.Errorf("%d bytes of a line without an end are kept", len(c.rest))
	}
}

func FuzzChildLog(f *testing.F) {
	for _, line := range strings.SplitAfter(childOutput, "\n") {
		f.Add(line)
	}
	f.Add("2026.11.21 06:35:08.567568 [ 321 ] {} <")
	f.Add("2026.11.21 06:35:08.567568 [ 321 ] {} <Error> ")
	f.Fuzz(func(t *testing.T, text string) {
		c, out := newChildLog()
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if last := c.last(); len(last) > tailLines*(maxChildLine+10) {
			t.Errorf("the tail has %d bytes", len(last))
		}
		if strings.Contains(out.String(), "(in query:") {
			t.Errorf("a query's text was logged: %s", out)
		}
	})
}

// A safety measure that the child could not take is in the checks.
func TestShortfallsAreKept(t *testing.T) {
	output := &childLog{log: slog.New(slog.DiscardHandler)}
	if _, err := output.Write([]byte("hello\nerrata-engine: without confinement to its own files: the kernel has no Landlock\n")); err != nil {
		t.Fatal(err)
	}
	got := output.shortfalls()
	if len(got) != 1 || got[0] != "confinement to its own files: the kernel has no Landlock" {
		t.Fatalf("the shortfalls are %q", got)
	}
	check := checkLimits(got)
	if !check.OK || !strings.Contains(check.Detail, got[0]) || check.Hint == "" {
		t.Errorf("the check says %+v", check)
	}
}
