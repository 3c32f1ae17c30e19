package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// useMCP is an agent that starts "errata mcp", as agents do, and calls a tool.
func useMCP(t *testing.T, s *service, data string) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "mcp", "--data", data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_errors", Arguments: map[string]any{"search": "FirstError"}})
	if err != nil || got.IsError {
		t.Fatalf("%v %+v\n%s", err, got, complaints.String())
	}
	text := got.Content[0].(*mcp.TextContent).Text
	for _, want := range []string{`"total":1`, `"exception_class":"FirstError"`, `"link":"` + s.url + `/?record=`} {
		if !strings.Contains(text, want) {
			t.Errorf("list_errors: %s, want %s", text, want)
		}
	}
	if err := session.Close(); err != nil || !cmd.ProcessState.Success() || complaints.Len() > 0 {
		t.Errorf("the end: %v, %v, %s", err, cmd.ProcessState, complaints.String())
	}
	if got := command(t, nil, "mcp", "--data", t.TempDir()); got.code != exitFailed || !strings.Contains(got.err, "no admin key") {
		t.Errorf("without a key: %+v", got)
	}
	if got := command(t, []string{"ERRATA_KEY=nonsense"}, "mcp", "extra", "--data", data); got.code != exitUsage {
		t.Errorf("with an argument: %+v", got)
	}
}
