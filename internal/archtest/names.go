package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
)

// MaxRootNames is how many exported names the root may have. It holds the words that all
// packages share, and a reader cannot keep more in mind.
const MaxRootNames = 60

// RootNames finds a root that exports too much. Counted are types, functions,
// variables and constants. The constants of one type are an enumeration and
// count as one name; methods and fields belong to their type and do not count.
func RootNames(t *Tree) []string {
	names, enumerations := 0, map[string]bool{}
	for _, file := range t.Go {
		if file.Dir != "." || file.Test {
			continue
		}
		for _, decl := range file.AST.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil && decl.Name.IsExported() {
					names++
				}
			case *ast.GenDecl:
				names += exported(decl, enumerations)
			}
		}
	}
	if names += len(enumerations); names > MaxRootNames {
		return []string{fmt.Sprintf(".: the root exports %d names, more than %d; move what one package owns into that package", names, MaxRootNames)}
	}
	return nil
}

// exported counts the exported names of a declaration. The types of its typed
// constants are added to enumerations instead.
func exported(decl *ast.GenDecl, enumerations map[string]bool) (names int) {
	typed := "" // the type of the constant before, which a constant without a value has too
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				names++
			}
		case *ast.ValueSpec:
			if spec.Type != nil || len(spec.Values) > 0 {
				name, _ := spec.Type.(*ast.Ident)
				typed = ""
				if name != nil {
					typed = name.Name
				}
			}
			for _, name := range spec.Names {
				switch {
				case !name.IsExported():
				case decl.Tok == token.CONST && typed != "":
					enumerations[typed] = true
				default:
					names++
				}
			}
		}
	}
	return names
}
