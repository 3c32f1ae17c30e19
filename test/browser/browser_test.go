//go:build browser

package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	scripts = "../../web/e2e"
	// never is far longer than any script takes.
	never = 5 * time.Minute
)

// parts are the files of the folder that are no tests: shared code, the script
// that fills a service with errors, and those that take pictures.
var parts = []string{"browser.mjs", "axe.mjs", "seed.mjs"}

// pictures says that a script only takes pictures.
func pictures(name string) bool { return strings.HasPrefix(name, "shots") }

// timed is the script that holds the page to a time limit. It has the machine for
// itself.
const timed = "speed.mjs"

// TestPage runs each script against a new service of its own. Several run at the
// same time, because script, browser and service mostly wait for each other.
func TestPage(t *testing.T) {
	for _, name := range tests(t) {
		if !pictures(name) {
			t.Run(strings.TrimSuffix(name, ".mjs"), func(t *testing.T) {
				if name != timed {
					t.Parallel()
				}
				run(t, name, t.TempDir())
			})
		}
	}
}

// TestPictures takes the pictures of every view into the folder of ERRATA_SHOTS,
// else into a temporary one.
func TestPictures(t *testing.T) {
	folder := os.Getenv("ERRATA_SHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	for _, name := range tests(t) {
		if pictures(name) {
			t.Run(strings.TrimSuffix(name, ".mjs"), func(t *testing.T) { run(t, name, folder) })
		}
	}
	taken, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(taken) == 0 {
		t.Errorf("no pictures were taken (%v)", err)
	}
}

// tests are the names of the scripts.
func tests(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(scripts, "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := filepath.Base(path); !slices.Contains(parts, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("there are no scripts in %s", scripts)
	}
	return names
}

// run runs a script with node; it fails when the script ends with another code
// than 0. Pictures go into the folder.
func run(t *testing.T, name, folder string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node is needed for the tests of the page: run `make test-browser`, which installs what is missing")
	}
	// A script receives the messages of alerts on this machine.
	s := servicetest.Start(t, filepath.Join(t.TempDir(), "data"), func(o *app.Options) { o.AlertAllowHosts = []string{"127.0.0.1"} })
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join("e2e", name))
	cmd.Dir = filepath.Dir(scripts)
	cmd.Env = append(os.Environ(), "ERRATA_URL="+s.URL, "ERRATA_KEY="+s.Admin, "ERRATA_DSN="+s.DSN(t, s.URL), "ERRATA_SHOTS="+folder)
	// The browser is a child of node and must end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
