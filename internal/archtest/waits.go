package archtest

import (
	"fmt"
	"go/ast"
	"strings"
)

// reasonMark begins the comment that excuses a skip or a sleep, on its line or
// on the line above.
const reasonMark = "// reason: "

// Waits finds skipped tests and sleeps that give no reason. A skip hides a
// missing engine; a sleep is either too short on a slow machine or too long on
// every other one, and tests wait on signals instead.
func Waits(t *Tree) []string {
	var found []string
	for _, file := range t.Go {
		excused := reasonLines(t, file)
		testers := testingNames(file.AST)
		ast.Inspect(file.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			what := waitCalled(call, testers)
			line := t.Fset.Position(call.Pos()).Line
			if what != "" && !excused[line] && !excused[line-1] {
				found = append(found, fmt.Sprintf("%s: %s without a comment %q on its line or the line above", t.at(call.Pos()), what, reasonMark+"…"))
			}
			return true
		})
	}
	return found
}

// reasonLines are the lines of the file that carry a reason.
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

// testingNames are the names of all parameters of the file that are a T, B, F
// or TB of package testing. Skip means other things on other types.
func testingNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		kind := field.Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		if selector, ok := kind.(*ast.SelectorExpr); ok && isName(selector.X, "testing") {
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// waitCalled names what the call does, "" when it is no concern of ours.
func waitCalled(call *ast.CallExpr, testers map[string]bool) string {
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
	case (name == "Skip" || name == "Skipf" || name == "SkipNow") && testers[on.Name]:
		return on.Name + "." + name
	default:
		return ""
	}
}

func isName(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.Ident)
	return ok && ident.Name == name
}
