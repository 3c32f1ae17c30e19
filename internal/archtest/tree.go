package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tree is the files of a source tree.
type Tree struct {
	// Module is the module's import path.
	Module string
	// Root is the folder of the tree on this machine, "" for a planted tree.
	Root string
	// Fset has the positions in Go.
	Fset *token.FileSet
	// Go are the Go files, parsed with comments, in the order of their paths.
	Go []*GoFile
	// Texts are all text files, Go files among them, by slash-separated path
	// relative to the root.
	Texts map[string][]byte
	// Others are the paths of the files that are no text, such as pictures.
	Others map[string]bool
}

// GoFile is one parsed Go file.
type GoFile struct {
	// Path is relative to the root, with slashes; Dir is its folder, "." for
	// the root.
	Path, Dir string
	// Test says that the file is no part of the product: it is a _test.go file, or
	// below test/.
	Test  bool
	Lines int
	AST   *ast.File
}

// These files are no part of the tree: they were built, downloaded, collected or tried
// out. The lists have names of folders, names at the root, and endings of file names,
// as in .gitignore.
var (
	notOurs        = []string{".git", "node_modules"}
	notOursAtRoot  = []string{"bin", "data", "hello", "keys", ".env"}
	notOursEndings = []string{".log", ".out", ".prof", ".test"}
)

// Load reads the tree below root, which must have go.mod. A Go file that cannot be
// parsed is an error.
func Load(root string) (*Tree, error) {
	texts, others := map[string][]byte{}, map[string]bool{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		skip := slices.Contains(notOurs, entry.Name()) || slices.Contains(notOursAtRoot, rel)
		if entry.IsDir() {
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if skip || !entry.Type().IsRegular() || slices.Contains(notOursEndings, path.Ext(rel)) {
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if isText(content) {
			texts[rel] = content
		} else {
			others[rel] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	t, err := Parse(texts)
	if err != nil {
		return nil, err
	}
	t.Root, t.Others = root, others
	return t, nil
}

// isText tells text from binary as git does: text has no zero byte near its beginning.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// Parse makes a tree of texts, which must have go.mod.
func Parse(texts map[string][]byte) (*Tree, error) {
	t := &Tree{Fset: token.NewFileSet(), Texts: texts}
	for line := range strings.Lines(string(texts["go.mod"])) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.Module = strings.TrimSpace(name)
		}
	}
	if t.Module == "" {
		return nil, errors.New("no go.mod with a module line at the root")
	}
	for _, name := range t.paths() {
		if path.Ext(name) != ".go" {
			continue
		}
		file, err := parser.ParseFile(t.Fset, name, texts[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		t.Go = append(t.Go, &GoFile{
			Path: name, Dir: path.Dir(name),
			Test:  strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/"),
			Lines: bytes.Count(texts[name], []byte("\n")),
			AST:   file,
		})
	}
	return t, nil
}

// paths are the paths of all texts in order.
func (t *Tree) paths() []string {
	names := make([]string, 0, len(t.Texts))
	for name := range t.Texts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// at is pos as file:line.
func (t *Tree) at(pos token.Pos) string {
	p := t.Fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
