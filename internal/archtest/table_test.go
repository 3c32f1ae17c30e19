package archtest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into CONTRIBUTING.md")

// TestTableOfFolders: what people read is what the tests hold.
func TestTableOfFolders(t *testing.T) {
	const file = "../../CONTRIBUTING.md"
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, ok := WithTable(string(document), Layers)
	if !ok {
		t.Fatalf("%s has no place for the table", file)
	}
	if written == string(document) {
		return
	}
	if !*update {
		t.Fatal("the table in CONTRIBUTING.md is not that of layers.go: run go test ./internal/archtest -update")
	}
	if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A row without a description helps nobody.
func TestEveryFolderIsDescribed(t *testing.T) {
	for _, layer := range Layers {
		if strings.TrimSpace(layer.Is) == "" || strings.Contains(layer.Is, "|") {
			t.Errorf("%s: %q", layer.Dir, layer.Is)
		}
	}
}
