//go:build linux

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestAllInOne builds the image with both engines by a docker that says what it was asked for: for
// both platforms, and without the one whose library the registry does not have.
func TestAllInOne(t *testing.T) {
	script := string(read(t, "../engine/fetch-libchdb.sh"))
	version := regexp.MustCompile(`(?m)^version=(\S+)`).FindStringSubmatch(script)[1]
	size, err := strconv.ParseInt(regexp.MustCompile(`(?m)^\tsize=(\d+)`).FindStringSubmatch(script)[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The library for amd64 is there already: no other file has its sum.
	known := "cache/linux/amd64/libchdb-" + version + "/libchdb.so"
	write(known, "")
	if err := os.Truncate(filepath.Join(dir, known), size); err != nil {
		t.Fatal(err)
	}
	write("package/libchdb.so", "a library")
	write("package/package.json", `{"name":"@chdb/lib-linux-arm64-gnu","version":"`+version+`"}`)
	write("bin/docker", "#!/bin/sh\necho \"asked: $*\"\n")
	build := func(npm string) (said string, err error) {
		t.Helper()
		write("bin/npm", "#!/bin/sh\n"+npm+"\n")
		cmd := exec.CommandContext(t.Context(), "sh", "all-in-one.sh", "--tag", "errata")
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "ERRATA_CACHE="+filepath.Join(dir, "cache"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	said, err := build("echo '404 Not Found' >&2; exit 1")
	for _, want := range []string{"404 Not Found\n", "all-in-one: linux/arm64 is left out", "asked: buildx build --platform linux/amd64 --file "} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("without the library for arm64: %v, no %q in\n%s", err, want, said)
		}
	}
	said, err = build("tar -czf chdb-lib.tgz -C '" + dir + "' package")
	if err != nil || !strings.Contains(said, "asked: buildx build --platform linux/amd64,linux/arm64 --file ") || strings.Contains(said, "left out") {
		t.Errorf("with both libraries: %v\n%s", err, said)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cache/linux/arm64/libchdb-"+version+"/libchdb.so"))
	if string(text) != "a library" || err != nil {
		t.Errorf("the library for arm64 is %q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(dir, known)); err != nil {
		t.Fatal(err)
	}
	write("cache/linux/arm64/libchdb-"+version+"/libchdb.so", "cut off")
	if said, err := build("exit 1"); err == nil || strings.Contains(said, "asked") {
		t.Errorf("without any library it builds:\n%s", said)
	}
}
