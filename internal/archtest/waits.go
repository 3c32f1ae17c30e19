package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// reasonMark begins the comment with the reason for a skip or a sleep, on its line or on
// the line above.
const reasonMark = "// reason: "

// Waits finds skipped tests and sleeps without a reason. A skip hides a missing engine.
// A sleep is too short on a slow machine and too long on all others; tests wait for a
// signal instead.
func Waits(t *Tree) []string {
	var found []string
	for _, file := range t.Go {
		excused := reasonLines(t, file)
		scopes{}.walk(file.AST, func(call *ast.CallExpr, in scopes) {
			what := waitCalled(call, in)
			line := t.Fset.Position(call.Pos()).Line
			if what != "" && !excused[line] && !excused[line-1] {
				found = append(found, fmt.Sprintf("%s: %s without a comment %q on its line or the line above", t.at(call.Pos()), what, reasonMark+"…"))
			}
		})
	}
	return found
}

// reasonLines are the lines of the file with a reason.
func reasonLines(t *Tree, file *GoFile) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.AST.Comments {
		for _, comment := range group.List {
			if reason, ok := strings.CutPrefix(comment.Text, reasonMark); ok && strings.TrimSpace(reason) != "" {
				lines[t.Fset.Position(comment.Pos()).Line] = true
			}
		}
	}
	return lines
}

// scopes are the parameters of the functions around a call, innermost last: they say
// whether a name is a T, B, F or TB of package testing. Other types have a Skip with
// another meaning, such as decoders and the T of a property test.
type scopes []map[string]bool

// walk calls visit for every call below n.
func (s scopes) walk(n ast.Node, visit func(call *ast.CallExpr, in scopes)) {
	ast.Inspect(n, func(inner ast.Node) bool {
		if inner == n {
			return true
		}
		switch inner := inner.(type) {
		case *ast.FuncDecl:
			s.within(inner.Type).walk(inner, visit)
			return false
		case *ast.FuncLit:
			s.within(inner.Type).walk(inner, visit)
			return false
		case *ast.CallExpr:
			visit(inner, s)
		}
		return true
	})
}

// within are the scopes inside a function of the type.
func (s scopes) within(function *ast.FuncType) scopes {
	names := map[string]bool{}
	for _, field := range function.Params.List {
		kind := field.Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		selector, ok := kind.(*ast.SelectorExpr)
		for _, name := range field.Names {
			names[name.Name] = ok && isName(selector.X, "testing")
		}
	}
	return append(slices.Clip(s), names)
}

// testing says whether the name is a parameter of package testing here.
func (s scopes) testing(name string) bool {
	for _, names := range slices.Backward(s) {
		if is, known := names[name]; known {
			return is
		}
	}
	return false
}

// waitCalled names the skip or the sleep that is called, "" for other calls.
func waitCalled(call *ast.CallExpr, in scopes) string {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	on, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch name := selector.Sel.Name; {
	case name == "Sleep" && on.Name == "time":
		return "time.Sleep"
	case (name == "Skip" || name == "Skipf" || name == "SkipNow") && in.testing(on.Name):
		return on.Name + "." + name
	default:
		return ""
	}
}

func isName(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && ident.Name == name
}
