package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Servers that read well have a median of 60 to 140 lines for a file and 7 to 12 for a
// function.
const (
	// MaxFileLines can be read in one sitting.
	MaxFileLines = 400
	// MaxFuncLines fit a screen.
	MaxFuncLines = 60
)

// longMark begins the comment at the top of a file or a function that says why it is
// longer.
const longMark = "// long: "

// Lengths finds Go files and functions that are too long and do not say why.
func Lengths(t *Tree) []string {
	var found []string
	for _, file := range t.Go {
		if ast.IsGenerated(file.AST) {
			continue
		}
		if file.Lines > MaxFileLines && !saysWhy(file.AST.Comments, file.AST.FileStart, firstDecl(file.AST)) {
			found = append(found, fmt.Sprintf("%s: %d lines, more than %d; split it, or say why in a line %q at the top",
				file.Path, file.Lines, MaxFileLines, longMark+"…"))
		}
		for _, decl := range file.AST.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := t.Fset.Position(fn.End()).Line - t.Fset.Position(fn.Pos()).Line + 1
			if lines <= MaxFuncLines || saysWhy(file.AST.Comments, topOf(fn), firstStmt(fn)) {
				continue
			}
			found = append(found, fmt.Sprintf("%s: %s has %d lines, more than %d; split it, or say why in a line %q at the top",
				t.at(fn.Pos()), fn.Name.Name, lines, MaxFuncLines, longMark+"…"))
		}
	}
	return found
}

// saysWhy looks for the mark with a reason behind it between two positions.
func saysWhy(comments []*ast.CommentGroup, from, to token.Pos) bool {
	for _, group := range comments {
		for _, comment := range group.List {
			reason, marked := strings.CutPrefix(comment.Text, longMark)
			if marked && strings.TrimSpace(reason) != "" && from <= comment.Pos() && comment.Pos() < to {
				return true
			}
		}
	}
	return false
}

func firstDecl(file *ast.File) token.Pos {
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.IMPORT {
			continue
		}
		if fn, ok := decl.(*ast.FuncDecl); ok {
			return topOf(fn)
		}
		return decl.Pos()
	}
	return file.FileEnd
}

func topOf(fn *ast.FuncDecl) token.Pos {
	if fn.Doc != nil {
		return fn.Doc.Pos()
	}
	return fn.Pos()
}

func firstStmt(fn *ast.FuncDecl) token.Pos {
	if len(fn.Body.List) > 0 {
		return fn.Body.List[0].Pos()
	}
	return fn.Body.Rbrace
}

// Comments finds packages that do not say what they are for. A package comment begins
// with "Package NAME", the comment of a program with "Command".
func Comments(t *Tree) []string {
	type pkg struct {
		name string
		test bool // all its files are tests
		doc  string
	}
	packages := map[string]*pkg{}
	var order []string
	for _, file := range t.Go {
		name := file.AST.Name.Name
		onlyTest := strings.HasSuffix(file.Path, "_test.go")
		p := packages[file.Dir]
		if p == nil {
			p = &pkg{name: name, test: true}
			packages[file.Dir] = p
			order = append(order, file.Dir)
		}
		if p.test && !onlyTest {
			// If there is code besides tests, only the comment in its files counts.
			*p = pkg{name: name}
		}
		if p.test == onlyTest && file.AST.Doc != nil && p.doc == "" {
			p.name, p.doc = name, file.AST.Doc.Text()
		}
	}
	var found []string
	for _, dir := range order {
		p := packages[dir]
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(p.doc, want) {
			found = append(found, fmt.Sprintf("%s: no package comment that begins with %q and says what the package is for and what it must not do", dir, want))
		}
	}
	return found
}
