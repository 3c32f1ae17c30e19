//go:build containers

package containers

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// hardened are the strictest arguments that an operator may start the image with.
var hardened = []string{"--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"}

// TestAllInOne starts the image on an empty volume as the README says, and stops it,
// kills it and starts it with less rights: what was accepted stays.
func TestAllInOne(t *testing.T) {
	const name = "errata-test-all"
	url, publish := published(t)
	s := service{container: name, url: url}
	remove(t, "volume", "rm", "--force", name)
	remove(t, "rm", "--force", name)

	began := time.Now()
	engine(t, "run", "--detach", "--name", name, publish, "--volume", name+":/data", allInOne)
	s.ready(t)
	t.Logf("healthy after %s; the image has %s bytes", time.Since(began).Round(time.Millisecond), engine(t, "image", "inspect", "--format", "{{.Size}}", allInOne))
	if shown, read := s.key(t, "admin"), s.exec(t, "cat", "/data/keys/admin.key"); shown == "" || shown != read {
		t.Error("keys show admin and the file differ, or are empty")
	}
	s.send(t, "first")
	s.counts(t, map[string]int{"first": 1})
	s.alone(t)

	began = time.Now()
	engine(t, "stop", "--time", "10", name)
	if took, code := time.Since(began), engine(t, "inspect", "--format", "{{.State.ExitCode}}", name); code != "0" || took > 10*time.Second {
		t.Errorf("it stopped after %s with code %s", took, code)
	}
	engine(t, "start", name)
	s.ready(t)
	s.counts(t, map[string]int{"first": 1})

	s.send(t, "second")
	engine(t, "kill", name) // right after the answer
	engine(t, "start", name)
	s.ready(t)
	s.counts(t, map[string]int{"first": 1, "second": 1})

	engine(t, "rm", "--force", name)
	engine(t, append(append([]string{"run", "--detach", "--name", name, publish, "--volume", name + ":/data"}, hardened...), allInOne)...)
	s.ready(t)
	s.send(t, "first")
	s.counts(t, map[string]int{"first": 2, "second": 1})
	s.alone(t)
}

// alone checks that no process of the container is root's or has a capability, and that
// the service finds nothing wrong with itself.
func (s service) alone(t *testing.T) {
	t.Helper()
	status := s.exec(t, "sh", "-c", "cat /proc/[0-9]*/status")
	for _, line := range strings.Split(status, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if name == "Uid" && value != "65532\t65532\t65532\t65532" || name == "CapEff" && strings.Trim(value, "0") != "" {
			t.Errorf("a process has %s", line)
		}
	}
	if !strings.Contains(status, "errata-engine") {
		t.Error("ClickHouse runs elsewhere")
	}
	if said := s.exec(t, "/errata", "doctor"); strings.Contains(said, "warning") || !strings.Contains(said, "reads its own files only") {
		t.Errorf("doctor says\n%s", said)
	}
}

// TestFolderOfTheHost mounts a folder that is not the service's.
func TestFolderOfTheHost(t *testing.T) {
	out, err := run(exec.CommandContext(t.Context(), program(), "run", "--rm", "--volume", t.TempDir()+":/data", allInOne))
	if err == nil || !strings.Contains(err.Error(), "must belong to the user of this process, whose number is 65532") {
		t.Errorf("it says %s: %v", out, err)
	}
}
