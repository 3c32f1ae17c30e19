package stacktrace_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/stacktrace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tree is the exceptions as lines, each below the one that it belongs to.
func tree(chain []ingest.Exception) string {
	var text strings.Builder
	var show func(parent int64, depth int)
	show = func(parent int64, depth int) {
		for _, x := range slices.Backward(chain) {
			if x.Member == nil || x.Member.Parent != parent {
				continue
			}
			group := ""
			if x.Member.Group {
				group = ", a group"
			}
			at := "nowhere"
			if n := len(x.Frames); n > 0 {
				at = fmt.Sprintf("%s:%d in %s, %d frames", x.Frames[n-1].File, x.Frames[n-1].Line, x.Frames[n-1].Function, n)
			}
			fmt.Fprintf(&text, "%s%d %s %q at %s%s\n", strings.Repeat("  ", depth), x.Member.ID, x.Class, x.Message, at, group)
			show(x.Member.ID, depth+1)
		}
	}
	show(-1, 0)
	return text.String()
}

func thrownOf(text string) ingest.Exception {
	frames, _ := stacktrace.Parse(text)
	return ingest.Exception{Class: "Thrown", Message: "as the SDK says", Frames: frames}
}

// TestGroups reads what Python prints of exception groups.
func TestGroups(t *testing.T) {
	for _, name := range groupNames {
		text := recordedGroup(t, name)
		chain := stacktrace.Chain(text, thrownOf(text))
		file := filepath.Join("testdata", "groups", name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(tree(chain)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), tree(chain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func recordedGroup(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "groups", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var groupNames = []string{"two", "nested", "because", "last_is_group", "of_cause", "many", "not_raised"}

// TestTruncatedGroups: the thrown exception stays as it is, and every other one is of a
// text that was there.
func TestTruncatedGroups(t *testing.T) {
	for _, name := range groupNames {
		text := recordedGroup(t, name)
		for end := range len(text) {
			checkChain(t, text[:end])
		}
	}
}

// checkChain: the thrown exception is the last one, and the only one that belongs to none.
func checkChain(t *testing.T, text string) {
	t.Helper()
	thrown := thrownOf(text)
	chain := stacktrace.Chain(text, thrown)
	if len(chain) == 0 || len(chain) > ingest.MaxExceptions {
		t.Fatalf("%d exceptions in %q", len(chain), text)
	}
	last := chain[len(chain)-1]
	linked := last.Member != nil
	last.Member = nil
	if diff := cmp.Diff(thrown, last); diff != "" {
		t.Errorf("the thrown one (-want +got):\n%s", diff)
	}
	for i, x := range chain {
		if (x.Member != nil) != linked {
			t.Fatalf("only some exceptions are linked: %+v", chain)
		}
		// Each has a number, and stands before the one that it belongs to.
		if linked && (x.Member.ID != int64(len(chain)-1-i) || x.Member.Parent >= x.Member.ID || x.Member.Parent < -1 || (x.Member.Parent < 0) != (i == len(chain)-1)) {
			t.Errorf("exception %d of %d is %+v", i, len(chain), x.Member)
		}
		if i < len(chain)-1 && (x.Class == "" || !strings.Contains(text, x.Class)) {
			t.Errorf("class %q is not out of the text", x.Class)
		}
	}
}
