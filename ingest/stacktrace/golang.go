package stacktrace

import "strings"

// GoLibrary says whether a frame of a Go program is in the standard library or
// in a dependency, by its file and the import path of its package. It also knows
// the paths of programs that were built with -trimpath.
func GoLibrary(file, module string) bool {
	if !strings.HasSuffix(file, ".go") {
		return false
	}
	if module == "main" {
		return false // "go install" gives the program's own module a version, too
	}
	trimmed := file[0] != '/' && strings.Contains(file, "@v")
	return trimmed || contains(file, "/pkg/mod/", "/vendor/") || ofStandardLibrary(file, module)
}

// ofStandardLibrary checks the file too, because an application may be named "log".
func ofStandardLibrary(file, module string) bool {
	if module == "runtime" {
		return true
	}
	module = packageOf(module) // raven-go sends the type with the package: "net/http.HandlerFunc"
	if first, _, _ := strings.Cut(module, "/"); !standardLibrary[first] {
		return false
	}
	if strings.HasPrefix(file, module+"/") {
		return true // -trimpath
	}
	src := strings.LastIndex(file, "/src/")
	return src >= 0 && strings.HasPrefix(file[src+len("/src/"):], module+"/")
}

// packageOf is the import path in the full name of a type or function of Go.
func packageOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}

// standardLibrary are the first elements of its import paths.
var standardLibrary = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`archive bufio bytes cmp compress container context crypto database debug
		embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path
		plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time unicode unique
		unsafe vendor weak`) {
		names[name] = true
	}
	return names
}()
