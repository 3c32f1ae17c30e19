//go:build clients

package clients

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/test/servicetest"
)

// buildTimeout is far longer than a generator or a compiler takes that has to
// fetch packages first.
const buildTimeout = 10 * time.Minute

// generated is a service, and a folder with its OpenAPI document in which a
// generator makes a client.
type generated struct {
	*service
	folder, document string
}

func newGenerated(t *testing.T) generated {
	t.Helper()
	g := generated{service: start(t), folder: t.TempDir()}
	g.document = filepath.Join(g.folder, "openapi.json")
	if err := os.WriteFile(g.document, []byte(g.Get(t, "/api/v1/openapi.json")), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// put copies files of testdata into the folder.
func (g generated) put(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", "generated", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(g.folder, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// make runs a generator or a compiler in the folder, which must succeed.
func (g generated) make(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = g.folder
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "GOFLAGS=-mod=mod")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%.8000s", filepath.Base(name), args, err, output)
	}
}

// told is what a client writes about what it did.
type told struct {
	Total     int64  `json:"total"`      // records that match its search
	Signature string `json:"signature"`  // of the first of them
	Count     int64  `json:"count"`      // from the list
	FirstSeen string `json:"first_seen"` // as a time of its language, written as the API does
	Message   string `json:"message"`    // from the detail
	Logging   bool   `json:"logging"`    // query_logging after the change
	Deleted   int64  `json:"deleted"`
	Code      string `json:"code"` // of the error when the record is asked for again
}

// works runs a client twice: with "send" it sends an event that has a
// fingerprint of a text and a number, twice; with "read" it finds the record in
// the list, reads it, switches the query log on, deletes the record, and asks
// for it again.
func (g generated) works(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	env = append(env, "URL="+g.URL, "ADMIN="+g.Admin, "INGEST="+g.Ingest)
	if r := servicetest.Run(t, env, name, append(args, "send")...); r.Code != 0 {
		t.Fatalf("send: %d %s", r.Code, r.Output)
	}
	g.settle(t)
	var list []struct {
		Signature string `json:"signature"`
		FirstSeen string `json:"first_seen"`
		Message   string `json:"message_preview"`
	}
	g.GetData(t, listPath, &list)
	if len(list) != 1 || list[0].Message != "order 42 failed" {
		t.Fatalf("sent: got %+v, want one record", list)
	}
	r := servicetest.Run(t, env, name, append(args, "read")...)
	if r.Code != 0 {
		t.Fatalf("read: %d %s", r.Code, r.Output)
	}
	var got told
	if err := json.Unmarshal([]byte(r.Output), &got); err != nil {
		t.Fatalf("read: %v in %s", err, r.Output)
	}
	want := told{
		Total: 1, Signature: list[0].Signature, Count: 2, FirstSeen: list[0].FirstSeen, Message: "order 42 failed",
		Logging: true, Deleted: 1, Code: "not_found",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if g.GetData(t, listPath, &list); len(list) != 0 {
		t.Errorf("after the delete: %+v", list)
	}
}
