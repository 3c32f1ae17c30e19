package stacktrace

import "strings"

// GoLibrary says whether a frame of a Go program is in the standard library or
// in a dependency, by its file and the import path of its package. It knows
// the paths of binaries that were built with -trimpath as well.
func GoLibrary(file, module string) bool {
	if !strings.HasSuffix(file, ".go") {
		return false
	}
	if module == "main" {
		return false // "go install" gives its own module a version, too
	}
	trimmed := file[0] != '/' && strings.Contains(file, "@v")
	return trimmed || contains(file, "/pkg/mod/", "/vendor/") || ofStandardLibrary(file, module)
}

// ofStandardLibrary looks at both: an application may be called "log".
func ofStandardLibrary(file, module string) bool {
	if module == "runtime" {
		return true
	}
	// raven-go leaves the type with the package: "net/http.HandlerFunc".
	slash := strings.LastIndexByte(module, '/') + 1
	if dot := strings.IndexByte(module[slash:], '.'); dot >= 0 {
		module = module[:slash+dot]
	}
	if first, _, _ := strings.Cut(module, "/"); !standardLibrary[first] {
		return false
	}
	if strings.HasPrefix(file, module+"/") {
		return true // -trimpath
	}
	src := strings.LastIndex(file, "/src/")
	return src >= 0 && strings.HasPrefix(file[src+len("/src/"):], module+"/")
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
