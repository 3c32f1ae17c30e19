package client

import (
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

const (
	// maxFrames is how many calls of a stack the service keeps: those nearest to
	// the error.
	maxFrames = 50
	// maxCallers leaves room for the calls of this package, which are cut off.
	maxCallers = maxFrames + 24
)

// program knows which code is the application's own.
type program struct {
	module string   // path of the main module, "" if unknown
	main   string   // import path of package main, "" if unknown
	inApp  []string // import paths of the application's own packages, and all below
}

func newProgram(inApp []string) program {
	p := program{inApp: inApp}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	p.module = info.Main.Path
	if info.Path != "command-line-arguments" && !strings.HasSuffix(info.Path, ".test") {
		p.main = info.Path
	}
	if len(p.inApp) == 0 && p.module != "" {
		p.inApp = []string{p.module}
	}
	return p
}

// callers are the program counters of the present stack, the nearest call first.
func callers() []uintptr {
	pcs := make([]uintptr, maxCallers)
	return pcs[:runtime.Callers(2, pcs)]
}

// call is one call of a stack.
type call struct {
	runtime.Frame
	module, function string
}

func calls(pcs []uintptr) []call {
	if len(pcs) == 0 {
		return nil
	}
	var all []call
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		if frame.Function != "" {
			c := call{Frame: frame}
			c.module, c.function = split(frame.Function)
			all = append(all, c)
		}
		if !more {
			return all
		}
	}
}

// split divides "example.org/shop/orders.(*Book).Load" behind the import path, in
// whose last part the linker writes a dot as %2e.
func split(name string) (module, function string) {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return "", name
	}
	module, function = name[:slash+dot], name[slash+dot+1:]
	if plain, err := url.PathUnescape(module); err == nil {
		module = plain
	}
	return module, function
}

// ownModule is the import path of this package.
var ownModule = func() string {
	module, _ := split(calls(callers())[0].Function)
	return module
}()

// here cuts the calls of this package off the near end of a stack.
func here(stack []call) []call {
	for len(stack) > 0 && stack[0].module == ownModule {
		stack = stack[1:]
	}
	return stack
}

// panicked cuts off all calls nearer than the one that panicked: those that
// recovered the panic, and those of the runtime.
func panicked(stack []call) []call {
	at := slices.IndexFunc(stack, func(c call) bool { return c.Function == "runtime.gopanic" })
	if at < 0 {
		return here(stack)
	}
	for stack = stack[at:]; len(stack) > 1 && stack[0].module == "runtime"; {
		stack = stack[1:]
	}
	return stack
}

// logged cuts off all calls nearer than the one at pc, which the logger noted. If
// the stack has no such call, because another goroutine handles the record, the
// result is that call alone.
func logged(pc uintptr) func([]call) []call {
	return func(stack []call) []call {
		if pc == 0 {
			return here(stack)
		}
		noted := calls([]uintptr{pc})
		if len(noted) == 0 {
			return here(stack)
		}
		at := slices.IndexFunc(stack, func(c call) bool { return c.Function == noted[0].Function && c.Line == noted[0].Line })
		if at < 0 {
			return noted[:1]
		}
		return stack[at:]
	}
}

// frames are the calls in the form of an event, oldest first.
func (p *program) frames(stack []call) []Frame {
	for len(stack) > 1 && (stack[len(stack)-1].Function == "runtime.goexit" || stack[len(stack)-1].Function == "runtime.main") {
		stack = stack[:len(stack)-1]
	}
	stack = stack[:min(len(stack), maxFrames)]
	frames := make([]Frame, len(stack))
	for i, c := range stack {
		frames[len(stack)-1-i] = Frame{
			File: p.file(c), Line: c.Line, Function: c.function, Module: c.module, InApp: p.isOwn(c.module),
		}
	}
	return frames
}

func (p *program) isOwn(module string) bool {
	if module == "main" {
		return true
	}
	if len(p.inApp) == 0 {
		// The standard library's paths have no dot in their first part.
		first, _, _ := strings.Cut(module, "/")
		return strings.Contains(first, ".")
	}
	module = strings.TrimSuffix(module, "_test")
	return slices.ContainsFunc(p.inApp, func(own string) bool {
		return module == own || strings.HasPrefix(module, strings.TrimSuffix(own, "/")+"/")
	})
}

// file is the path of a source file, relative to the main module. It is made of
// the import path: the compiler's own path begins with a folder of the machine
// that built the program.
func (p *program) file(c call) string {
	base := path.Base(filepath.ToSlash(c.File))
	dir := c.module
	if strings.HasSuffix(base, "_test.go") {
		dir = strings.TrimSuffix(dir, "_test")
	}
	if dir == "main" {
		dir = p.main
	}
	if p.module != "" {
		if inside, ok := strings.CutPrefix(dir, p.module); ok && (inside == "" || inside[0] == '/') {
			dir = strings.TrimPrefix(inside, "/")
		}
	}
	return path.Join(dir, base)
}

// place is the last call of the application, else the last call.
func place(frames []Frame) (file string, line int) {
	for _, f := range slices.Backward(frames) {
		if f.InApp {
			return f.File, f.Line
		}
	}
	if len(frames) == 0 {
		return "", 0
	}
	last := frames[len(frames)-1]
	return last.File, last.Line
}
