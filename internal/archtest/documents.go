package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	metricName   = regexp.MustCompile(`\berrata_[a-z_]+[a-z]\b`)
	variableName = regexp.MustCompile(`\bERRATA_[A-Z_]+[A-Z]\b`)
)

// Documents finds metrics and environment variables that only Markdown files name, and
// settings of the command that the README does not list.
func Documents(t *Tree) []string {
	settings := settingNames(t)
	if len(settings) == 0 {
		return []string{"cmd/errata: no function settings that lists the settings"}
	}
	known := map[string]bool{}
	for _, name := range settings {
		known[variableOf(name)] = true
	}
	for _, name := range t.paths() {
		if path.Ext(name) == ".md" {
			continue
		}
		for _, pattern := range []*regexp.Regexp{metricName, variableName} {
			for _, hit := range pattern.FindAllString(string(t.Texts[name]), -1) {
				known[hit] = true
			}
		}
	}
	var found []string
	for _, name := range t.paths() {
		if path.Ext(name) != ".md" {
			continue
		}
		text := string(t.Texts[name])
		hits := slices.Concat(metricName.FindAllString(text, -1), variableName.FindAllString(text, -1))
		slices.Sort(hits)
		for _, hit := range slices.Compact(hits) {
			if !known[hit] {
				found = append(found, fmt.Sprintf("%s: names %s, which nothing else does", name, hit))
			}
		}
	}
	for _, name := range settings {
		if !strings.Contains(string(t.Texts["README.md"]), "`"+variableOf(name)+"`") {
			found = append(found, fmt.Sprintf("README.md: does not list the setting %s", variableOf(name)))
		}
	}
	return found
}

// settingNames are the settings of the command: the first argument of each
// call of a function whose name ends in Setting, and the field name of each
// literal, in its function settings.
func settingNames(t *Tree) []string {
	var names []string
	add := func(expr ast.Expr) {
		if text, ok := expr.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if name, err := strconv.Unquote(text.Value); err == nil {
				names = append(names, name)
			}
		}
	}
	for _, file := range t.Go {
		if file.Dir != "cmd/errata" || file.Test {
			continue
		}
		for _, decl := range file.AST.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "settings" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if called, ok := n.Fun.(*ast.Ident); ok && strings.HasSuffix(called.Name, "Setting") && len(n.Args) > 0 {
						add(n.Args[0])
					}
				case *ast.KeyValueExpr:
					if isName(n.Key, "name") {
						add(n.Value)
					}
				}
				return true
			})
		}
	}
	return names
}

// variableOf is the environment variable of a setting.
func variableOf(setting string) string {
	return "ERRATA_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}
