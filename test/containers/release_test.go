//go:build containers

package containers

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestReleaseImage makes the image of a release for the processor of this machine, loads
// it from its file and starts it without ClickHouse: events are taken, as the user of
// the image, who owns a new volume. Docker loads such files since 29, whose images
// containerd keeps.
func TestReleaseImage(t *testing.T) {
	const name, image = "errata-test-release", "errata:1.2.3-4.gabc"
	dir := t.TempDir()
	for _, command := range [][]string{
		{"go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-tags", "nomsgpack", "-ldflags", "-s -w -X main.version=1.2.3+4.gabc", "-o", filepath.Join(dir, "errata"), "./cmd/errata"},
		{"go", "run", "./deploy/image", "-version", "1.2.3+4.gabc", "-revision", "abc", "-created", "2026-11-26T12:00:00Z", "-o", filepath.Join(dir, "image.tar"), filepath.Join(dir, "errata")},
	} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if _, err := run(cmd); err != nil {
			t.Fatal(err)
		}
	}
	url, publish := published(t)
	s := service{container: name, url: url}
	remove(t, "image", "rm", "--force", image)
	remove(t, "volume", "rm", "--force", name)
	remove(t, "rm", "--force", name)

	engine(t, "load", "--input", filepath.Join(dir, "image.tar"))
	if got, want := engine(t, "run", "--rm", image, "version"), "errata 1.2.3+4.gabc linux/"+runtime.GOARCH+" "+runtime.Version(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	started := append([]string{"run", "--detach", "--name", name, publish, "--volume", name + ":/data", "--env=ERRATA_CLICKHOUSE_DSN=clickhouse://127.0.0.1:9/errata"}, hardened...)
	engine(t, append(started, image)...)
	eventually(t, func() error {
		// It answers before it can show anything.
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
	s.send(t, "first")
	if user := engine(t, "inspect", "--format", "{{.Config.User}}", name); user != "65532:65532" {
		t.Errorf("it runs as %s", user)
	}
}
