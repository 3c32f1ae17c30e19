//go:build containers

package containers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The images, under the names of the compose files.
const (
	allInOne = "errata"
	slim     = "errata:local"
)

// patience is far longer than anything here takes.
const patience = 2 * time.Minute

// TestMain makes both images first.
func TestMain(m *testing.M) {
	for image, file := range map[string]string{allInOne: "Dockerfile.all", slim: "Dockerfile"} {
		if err := makeImage(image, file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func makeImage(image, file string) error {
	args := []string{"build", "--quiet", "--tag", image, "--build-arg", "VERSION=v1.2.3", "--file", filepath.Join("deploy", file)}
	if program() == "podman" {
		// A machine with an authority of its own downloads as well, and the image does not
		// get it.
		args = append(args, "--volume", "/etc/ssl/certs:/etc/ssl/certs:ro")
	}
	_, err := run(exec.CommandContext(context.Background(), program(), append(args, ".")...))
	return err
}

// program is the command of the container engine.
func program() string {
	name := os.Getenv("ERRATA_TEST_ENGINE")
	if name == "" {
		return "docker"
	}
	return name
}

// run runs a command in the folder of the module.
func run(cmd *exec.Cmd) (string, error) {
	cmd.Dir = "../.."
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s%s", cmd.Args, err, out, failed.String())
	}
	return strings.TrimSpace(string(out)), err
}

// engine runs a command of the container engine, which must succeed.
func engine(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(exec.CommandContext(t.Context(), program(), args...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// remove removes what a test has made, also when it has failed. The end of a test ends
// its context before.
func remove(t *testing.T, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if _, err := run(exec.CommandContext(context.Background(), program(), args...)); err != nil {
			t.Error(err)
		}
	})
}

// eventually asks until there is no error.
func eventually(t *testing.T, ask func() error) {
	t.Helper()
	poll := time.NewTicker(200 * time.Millisecond) // lists have a rate limit
	defer poll.Stop()
	for late := time.After(patience); ; {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatal(err)
		}
	}
}
