package archtest

import (
	"fmt"
	"strings"
)

// The table of folders in CONTRIBUTING.md stands between these lines.
const (
	tableBegin = "<!-- This table is written from internal/archtest/layers.go: go test ./internal/archtest -update -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

// Table is the import table for readers. It leaves out internal/background, which most
// may import.
func Table(layers []Layer) string {
	var b strings.Builder
	b.WriteString("| Folder | What it is | Imports of ours |\n|---|---|---|\n")
	for _, layer := range layers {
		var may []string
		for _, dir := range layer.May {
			if dir != shared {
				may = append(may, inWords(dir))
			}
		}
		if len(may) == 0 {
			may = []string{"none"}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", layer.Dir, layer.Is, strings.Join(may, ", "))
	}
	return b.String()
}

// inWords is a folder in the notation of a Layer as readers say it.
func inWords(dir string) string {
	switch base, below := strings.CutSuffix(dir, "..."); {
	case dir == ".":
		return "root"
	case dir == "...":
		return "all"
	case below:
		return base + "…"
	default:
		return dir
	}
}

// WithTable puts the table into the document, between its two lines. ok is false when
// they are not there.
func WithTable(document string, layers []Layer) (written string, ok bool) {
	front, rest, begins := strings.Cut(document, tableBegin)
	_, back, ends := strings.Cut(rest, tableEnd)
	return front + tableBegin + Table(layers) + tableEnd + back, begins && ends
}
