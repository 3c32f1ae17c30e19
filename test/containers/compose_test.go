//go:build containers

package containers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCompose starts the containers of each compose file and sends an event. The record is
// still there after a stop and a start, and after the containers, but not their volumes, were
// removed.
func TestCompose(t *testing.T) {
	for name, file := range map[string]string{"slim": "docker-compose.yml", "all": "deploy/docker-compose.all.yml"} {
		t.Run(name, func(t *testing.T) {
			url, _ := published(t)
			c := composed{project: "errata-test-" + name, file: elsewhere(t, file, url)}
			t.Cleanup(func() {
				if _, err := c.run("down", "--volumes"); err != nil {
					t.Error(err)
				}
			})
			began := time.Now()
			c.must(t, "up", "--detach")
			s := service{container: c.container(t), url: url}
			s.ready(t)
			t.Logf("healthy after %s", time.Since(began).Round(time.Millisecond))
			s.send(t, "first")
			s.counts(t, map[string]int{"first": 1})

			c.must(t, "stop")
			c.must(t, "start")
			s.ready(t)
			s.counts(t, map[string]int{"first": 1})

			c.must(t, "down")
			c.must(t, "up", "--detach")
			s.container = c.container(t)
			s.ready(t)
			s.send(t, "first")
			s.counts(t, map[string]int{"first": 2})
			if said := s.exec(t, "/errata", "doctor"); strings.Contains(said, "warning") || strings.Contains(said, "failed") {
				t.Errorf("doctor says\n%s", said)
			}
		})
	}
}

// composed is a compose file under a project name of its own.
type composed struct{ project, file string }

// elsewhere is a copy of the file that publishes the service at the address of url, because
// 8080 may be taken. Under podman it asks for no limit that only a full root may set.
func elsewhere(t *testing.T, file, url string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(
		"127.0.0.1:8080:8080", strings.TrimPrefix(url, "http://")+":8080",
		"- ./", "- "+root+"/", "context: ..", "context: "+root, "context: .", "context: "+root,
	).Replace(string(text))
	if program() == "podman" {
		changed = strings.ReplaceAll(changed, "    ulimits:\n      nofile: 262144\n", "")
	}
	path := filepath.Join(t.TempDir(), "compose.yml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command of compose.
func (c composed) run(args ...string) (string, error) {
	words := strings.Fields(os.Getenv("ERRATA_TEST_COMPOSE"))
	if len(words) == 0 {
		words = []string{"docker", "compose"}
	}
	words = append(words, "--project-name", c.project, "--file", c.file)
	cmd := exec.Command(words[0], append(words[1:], args...)...)
	cmd.Env = append(os.Environ(), "ERRATA_NATS_PASSWORD=0123456789abcdef", "ERRATA_CLICKHOUSE_PASSWORD=fedcba9876543210")
	return run(cmd)
}

func (c composed) must(t *testing.T, args ...string) {
	t.Helper()
	if _, err := c.run(args...); err != nil {
		t.Fatal(err)
	}
}

// container is the id of the one that runs Errata.
func (c composed) container(t *testing.T) string {
	t.Helper()
	return engine(t, "ps", "--quiet", "--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=com.docker.compose.service=errata")
}
