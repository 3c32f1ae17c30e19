//go:build (linux || darwin) && (amd64 || arm64)

// Command errata-engine is the embedded ClickHouse: libchdb, loaded without
// cgo, serving the native protocol in a process of its own, so that its crash does not
// end the service. The service starts it with its options and watches it; nobody
// starts it by hand.
//
//	errata-engine LIBRARY DATA RUN OPTION...
//
// LIBRARY is the path of libchdb.so, DATA the folder that the engine may write, RUN the
// folder of its configuration, and the options are those of clickhouse-local. Where the
// kernel has Landlock, the engine can reach no other files. Standard input is the life
// line: the query of the service reads it to its end, so the engine ends when its
// parent has ended, however that happens.
//
// It must not import other packages of ours, nor they it: purego makes a binary
// dynamically linked, and that of the service stays static.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Exit codes, after sysexits.h, by which the parent tells the cases apart. libchdb
// itself ends the process with 0 when standard input ends.
const (
	exitUsage       = 64 // wrong arguments
	exitUnavailable = 69 // the library cannot be loaded
	exitSoftware    = 70 // the engine refused to start; its text is on stderr
)

func main() {
	if len(os.Args) < 5 {
		fail(exitUsage, "usage: errata-engine LIBRARY DATA RUN OPTION... (it is started by errata serve)")
	}
	library, data, run, options := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	// The terminal's ^C and the service manager's TERM are for the parent, which closes
	// its connections first and then the standard input of this process.
	// Without SIGXFSZ a write beyond the size that a file may have fails, and nothing else
	// happens.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGXFSZ)

	// The engine keeps thread-local state, and yield and confine act on the calling
	// thread.
	runtime.LockOSThread()
	yield()
	lib, err := load(library)
	if err != nil {
		fail(exitUnavailable, fmt.Sprintf("%v; bring it again with fetch-libchdb.sh or 'make engine', or set ERRATA_CLICKHOUSE_DSN", err))
	}
	if err := surviveErrors(library, knownSymbol, lib.known); err != nil {
		goWithout("a handler of errors, so that a wrong packet on one connection ends it", err)
	}
	if err := tellWrites(library, knownSymbol, lib.known); err != nil {
		goWithout("errors of writes, so that a full disk damages tables", err)
	}
	if err := letGoOfStart(library, knownSymbol, lib.known); err != nil {
		fmt.Fprintf(os.Stderr, "errata-engine: code of the start stays in memory: %s\n", err)
	}
	if err := confine(data, run); err != nil {
		goWithout("confinement to its own files", err)
	}
	if text := lib.serve(append([]string{"clickhouse"}, options...)); text != "" {
		fail(exitSoftware, text)
	}
}

// goWithout tells the parent which safety measure could not be taken. The parent looks
// for these first words and shows the rest in its checks.
func goWithout(what string, err error) {
	fmt.Fprintf(os.Stderr, "errata-engine: without %s: %s\n", what, strings.ReplaceAll(err.Error(), "\n", "; "))
}

func fail(code int, text string) {
	fmt.Fprintln(os.Stderr, "errata-engine:", text)
	os.Exit(code)
}

// library is the part of libchdb's C interface that this program uses.
type library struct {
	queryCmdline             func(argc int32, argv unsafe.Pointer) uintptr
	resultError              func(result uintptr) string
	setSignalHandlersEnabled func(enabled int32)

	known uintptr // the address of knownSymbol
}

// knownSymbol is the function whose address tells where the library is in memory.
const knownSymbol = "chdb_query_cmdline"

// load opens the library and finds its functions.
func load(path string) (*library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	var lib library
	for name, fn := range map[string]any{
		knownSymbol:                        &lib.queryCmdline,
		"chdb_result_error":                &lib.resultError,
		"chdb_set_signal_handlers_enabled": &lib.setSignalHandlersEnabled,
	} {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("%s is not a libchdb that can be used: %w", path, err)
		}
		purego.RegisterFunc(fn, symbol)
		if name == knownSymbol {
			lib.known = symbol
		}
	}
	return &lib, nil
}

// serve runs the engine. At the end of standard input the engine ends the process, so
// serve returns only when the engine could not start, with the engine's error text.
func (l *library) serve(args []string) string {
	// With its own signal handlers the engine takes more than 5 s to end after a crash.
	// With Go's it ends at once, and the parent restarts it.
	l.setSignalHandlersEnabled(0)

	var pin runtime.Pinner
	defer pin.Unpin()
	argv := make([]*byte, 0, len(args)+1)
	for _, arg := range args {
		text := append([]byte(arg), 0)
		pin.Pin(&text[0])
		argv = append(argv, &text[0])
	}
	argv = append(argv, nil)
	pin.Pin(&argv[0])

	result := l.queryCmdline(int32(len(args)), unsafe.Pointer(&argv[0]))
	if result == 0 {
		return "the engine ended without an error text"
	}
	return l.resultError(result)
}
