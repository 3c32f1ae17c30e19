//go:build !race

// reason: nothing here runs at the same time, and with the race detector it takes eight
// times as long.

package ingest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// corpus has the lines of the tests of the scrubber, with all the secrets that are planted
// there, and of the labelled messages.
func corpus(t testing.TB) (lines []string) {
	t.Helper()
	for _, pattern := range []string{"scrub/*_test.go", "testdata/grouping/*", "../signature/*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(text), "\n")...)
		}
	}
	return lines
}

// everywhere is a draft with the text in each kind of field.
func everywhere(text string) ingest.Draft {
	extra, err := json.Marshal(map[string]any{"text": text, text: 7, "list": []string{text}})
	if err != nil {
		panic(err) // texts always encode
	}
	return ingest.Draft{
		Class: text, Message: text, Template: text + " %s", File: text, URI: "/" + text, UserID: text,
		Context: ingest.Context{
			Source: "native", Release: text, Environment: text, Transaction: text, ServerName: text, Extra: extra, Log: text + "!",
			Exceptions: []ingest.Exception{{Class: text, Message: text, Module: text, Frames: []ingest.Frame{
				{File: text, Function: text, Module: text, InApp: true, Around: &ingest.Around{Before: []string{text}, Line: text, Vars: extra}},
			}}},
			Breadcrumbs: []ingest.Breadcrumb{{Type: text, Message: text, Data: extra}},
			Contexts:    &ingest.Shared{Raw: extra},
			Headers:     []ingest.Pair{{Key: "Referer", Value: text}, {Key: "user-agent", Value: text}, {Key: text, Value: text}},
			Tags:        []ingest.Pair{{Key: "tag", Value: text}, {Key: text, Value: text}},
		},
	}
}

// TestMemoryChangesNothing: a pipeline, which remembers texts, makes the same event of a
// text the first time, when it remembers it, and from its memory, as rules that remember
// nothing.
func TestMemoryChangesNothing(t *testing.T) {
	log := &memoryLog{}
	roots := ingest.Rules{InstallRoots: []string{"/srv/app", "/home/bob"}}
	p, err := ingest.New(ingest.Config{Log: log, Random: seeded(), Rules: roots})
	if err != nil {
		t.Fatal(err)
	}
	src := ingest.Source{Project: 1, Received: received}
	lines := corpus(t)
	for i, line := range lines {
		texts := []string{line, line, line, line, strings.TrimSpace(line), strings.Trim(line, " \t\"`',")}
		if i > 0 {
			texts = append(texts, lines[i-1], lines[i-1]+"\n"+line)
		}
		for _, text := range texts {
			d := everywhere(text)
			want, refused := roots.Event(&d, src, errata.EventID{})
			d = everywhere(text) // its contexts are scrubbed once
			receipt, err := p.Accept(context.Background(), src, []ingest.Draft{d})
			if err != nil || len(receipt.Rejected) > 0 != (refused != nil) {
				t.Fatalf("%q: %v, %v, want %v", text, err, receipt, refused)
			}
			if refused != nil {
				continue
			}
			got := log.events[0]
			log.events, got.ID = log.events[:0], errata.EventID{}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q:\n%+v\n%s\nwant\n%+v\n%s", text, got, got.Payload, want, want.Payload)
			}
		}
	}
}
