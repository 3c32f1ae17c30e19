package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// libchdbVersion is the version that fetch-libchdb.sh fetches. A test compares
	// the two.
	libchdbVersion = "26.7.3-stable.1"
	libraryName    = "libchdb.so"
	binaryName     = "errata-engine"
	fetchName      = "fetch-libchdb.sh"
)

// whatToRun ends every sentence about a missing library.
func whatToRun() string {
	run := "make engine"
	if dir, err := programDir(); err == nil {
		run = fetchCommand(dir, os.Getenv("ERRATA_CACHE"))
	}
	return "run '" + run + "' to bring it, or set ERRATA_CLICKHOUSE_DSN to use a ClickHouse server"
}

// fetchCommand is what brings the library for a program in dir: the script of a
// release, which an archive has beside the program and a package in lib/errata, else
// the target of a checkout. The script must write where this process looks, so the
// command names the cache folder too.
func fetchCommand(dir, cache string) string {
	for _, script := range []string{filepath.Join(dir, fetchName), filepath.Join(dir, "..", "lib", "errata", fetchName)} {
		if !isFile(script) {
			continue
		}
		if cache != "" {
			return "ERRATA_CACHE=" + cache + " sh " + script
		}
		return "sh " + script
	}
	return "make engine"
}

// FindEngine says where the program and the library are that would run the
// embedded ClickHouse. The error says what to do about one that is missing.
func (o Options) FindEngine() (string, error) {
	library, err := FindLibrary(o.LibCHDB)
	if err != nil {
		return "", err
	}
	binary, err := binaryPath(o.EngineBinary)
	if err == nil && !isFile(binary) {
		err = fmt.Errorf("the program %s, which runs the embedded ClickHouse, does not exist", binary)
	}
	return binary + " with " + library, err
}

// FindLibrary is the path of libchdb: the path given, else $ERRATA_LIBCHDB, else
// beside the running program, else in the cache folder, where fetch-libchdb.sh puts
// it.
func FindLibrary(given string) (string, error) {
	if given == "" {
		given = os.Getenv("ERRATA_LIBCHDB")
	}
	if given != "" {
		if !isFile(given) {
			return "", fmt.Errorf("engine: the embedded ClickHouse library %s does not exist; %s", given, whatToRun())
		}
		return given, nil
	}
	var looked []string
	if dir, err := programDir(); err == nil {
		looked = append(looked, filepath.Join(dir, libraryName))
	}
	if dir, err := CacheDir(); err == nil {
		looked = append(looked, filepath.Join(dir, "libchdb-"+libchdbVersion, libraryName))
	}
	for _, path := range looked {
		if isFile(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("engine: the embedded ClickHouse library is not on this machine (looked for %s); %s", strings.Join(looked, " and "), whatToRun())
}

// binaryPath is where errata-engine is looked for: the path given, else beside the
// running program.
func binaryPath(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	dir, err := programDir()
	if err != nil {
		return "", fmt.Errorf("engine: find the folder of the running program: %w", err)
	}
	return filepath.Join(dir, binaryName), nil
}

func findBinary(given string) (string, error) {
	path, err := binaryPath(given)
	if err == nil && !isFile(path) {
		err = fmt.Errorf("engine: the embedded ClickHouse program %s does not exist; run 'make build' to make it, or set ERRATA_CLICKHOUSE_DSN to use a ClickHouse server", path)
	}
	return path, err
}

// CacheDir is the folder for files that are fetched once for all checkouts:
// $ERRATA_CACHE, else $XDG_CACHE_HOME/errata, else ~/.cache/errata.
func CacheDir() (string, error) {
	if dir := os.Getenv("ERRATA_CACHE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "errata"), nil
	}
	if dir := os.Getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".cache", "errata"), nil
	}
	return "", errors.New("engine: no cache folder: set ERRATA_CACHE or HOME")
}

func programDir() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeType == 0
}
