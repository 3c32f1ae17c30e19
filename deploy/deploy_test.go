// Package deploy_test checks the files of this folder and the compose file. There are no
// containers where the tests run, so the tests read the files and check what operators
// rely on. They must not start anything.
package deploy_test

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"
)

// compose is the part of a compose file that is checked.
type compose struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	Build       *build            `yaml:"build"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Restart         string `yaml:"restart"`
	StopGracePeriod string `yaml:"stop_grace_period"`
	Privileged      bool   `yaml:"privileged"`
	NetworkMode     string `yaml:"network_mode"`
}

type build struct {
	Context    string `yaml:"context"`
	Dockerfile string `yaml:"dockerfile"`
}

func readCompose(t *testing.T) compose {
	t.Helper()
	var file compose
	if err := yaml.Unmarshal(read(t, "../docker-compose.yml"), &file); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	if got := slices.Sorted(maps.Keys(file.Services)); !slices.Equal(got, []string{"clickhouse", "errata", "nats"}) {
		t.Fatalf("services are %v", got)
	}
	return file
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pinned matches an image with at least a major and a minor number. An image with
// "latest", a major number alone or no tag changes without the operator's doing.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:[0-9]+\.[0-9]+[a-z0-9.-]*$`)

func TestPinned(t *testing.T) {
	for image, want := range map[string]bool{
		"nats:2.15.2-alpine": true, "clickhouse/clickhouse-server:26.7": true,
		"nats": false, "nats:latest": false, "nats:2": false, "nats:alpine": false,
	} {
		if got := pinned.MatchString(image); got != want {
			t.Errorf("pinned(%s) = %v", image, got)
		}
	}
}

func TestComposeImages(t *testing.T) {
	file := readCompose(t)
	for name, s := range file.Services {
		if s.Build == nil && !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %q is not pinned to a version", name, s.Image)
		}
	}
	if image := file.Services["nats"].Image; !atLeast(t, image, 2, 15) {
		t.Errorf("nats: %s is older than 2.15, which acknowledges before the fsync of compacted blocks", image)
	}
	if image := file.Services["clickhouse"].Image; !atLeast(t, image, 26, 5) {
		t.Errorf("clickhouse: %s is older than 26.5, which does not read the projection in order", image)
	}
	b := file.Services["errata"].Build
	if b == nil || b.Context != "." {
		t.Fatalf("errata: build is %+v, want the repository as its context", b)
	}
	read(t, "../"+b.Dockerfile)
}

// atLeast reads the version in an image's tag.
func atLeast(t *testing.T, image string, major, minor int) bool {
	t.Helper()
	numbers := regexp.MustCompile(`:([0-9]+)\.([0-9]+)`).FindStringSubmatch(image)
	if numbers == nil {
		t.Fatalf("no version in %q", image)
	}
	version := [2]int{number(numbers[1]), number(numbers[2])}
	return version[0] > major || version[0] == major && version[1] >= minor
}

func number(digits string) (n int) {
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}

func TestComposeHealth(t *testing.T) {
	file := readCompose(t)
	for name, s := range file.Services {
		if len(s.Healthcheck.Test) < 2 || s.Healthcheck.Test[0] != "CMD" {
			t.Errorf("%s: the health check is %q, want one in exec form: there may be no shell", name, s.Healthcheck.Test)
		}
		if s.Restart != "unless-stopped" {
			t.Errorf("%s: restart is %q", name, s.Restart)
		}
		for other, dependency := range s.DependsOn {
			if dependency.Condition != "service_healthy" {
				t.Errorf("%s waits for %s to be %q, want service_healthy", name, other, dependency.Condition)
			}
		}
	}
	for _, engine := range []string{"nats", "clickhouse"} {
		if _, waits := file.Services["errata"].DependsOn[engine]; !waits {
			t.Errorf("errata does not wait for %s", engine)
		}
	}
	if got := file.Services["errata"].Healthcheck.Test; !slices.Equal(got, []string{"CMD", "/errata", "healthcheck"}) {
		t.Errorf("errata: the health check is %q", got)
	}
	if grace := file.Services["errata"].StopGracePeriod; grace != "15s" {
		t.Errorf("errata: stop_grace_period is %q; a clean shutdown takes up to 10 s and the default is to kill after 10", grace)
	}
}

func TestComposeIsReachedFromThisMachineOnly(t *testing.T) {
	file := readCompose(t)
	for name, s := range file.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s beyond loopback", name, port)
			}
		}
		if s.Privileged || s.NetworkMode != "" {
			t.Errorf("%s leaves its container: privileged %v, network %q", name, s.Privileged, s.NetworkMode)
		}
	}
	if len(file.Services["errata"].Ports) == 0 {
		t.Error("errata publishes no port")
	}
}

func TestComposeKeepsData(t *testing.T) {
	file := readCompose(t)
	for name, folder := range map[string]string{"nats": "/data", "clickhouse": "/var/lib/clickhouse", "errata": "/data"} {
		if _, named := file.Volumes[name]; !named {
			t.Errorf("there is no volume %s", name)
		}
		if want := name + ":" + folder; !slices.Contains(file.Services[name].Volumes, want) {
			t.Errorf("%s has the volumes %q, want %s among them", name, file.Services[name].Volumes, want)
		}
	}
	for name, s := range file.Services {
		for _, volume := range s.Volumes {
			if from, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, "./") {
				read(t, "../"+from)
			} else if _, named := file.Volumes[from]; !named {
				t.Errorf("%s mounts %s, which is no volume of the file", name, from)
			}
		}
	}
}

// required matches a variable without which compose fails.
var required = regexp.MustCompile(`\$\{[A-Z_]+:\?[^}]+\}`)

// secretProblem says what is wrong with a variable that holds a secret. It is "" for
// other variables, and when nothing is wrong.
func secretProblem(name, value string) string {
	inURL := regexp.MustCompile(`://[^:/@]*:(.*)@`).FindStringSubmatch(value)
	switch {
	case inURL != nil:
		value = inURL[1]
	case !strings.Contains(name, "PASSWORD") && !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN"):
		return ""
	}
	if rest := required.ReplaceAllString(value, ""); rest != "" && rest != `""` {
		return name + " is not taken from a variable that must be set"
	}
	return ""
}

func TestComposeHasNoDefaultSecret(t *testing.T) {
	for _, c := range []struct {
		name, value string
		fine        bool
	}{
		{"X_PASSWORD", "${X_PASSWORD:?set it}", true},
		{"X_PASSWORD", `"${X_PASSWORD:?set it}"`, true},
		{"X_URL", "nats://user:${X_PASSWORD:?set it}@nats:4222", true},
		{"X_URL", "http://127.0.0.1:8080", true},
		{"X_PASSWORD", "${X_PASSWORD:-secret}", false},
		{"X_PASSWORD", "${X_PASSWORD}", false},
		{"X_PASSWORD", "", true}, // nothing is no secret; the next test wants them all set
		{"X_URL", "nats://user:secret@nats:4222", false},
		{"X_TOKEN", "s3cret", false},
	} {
		if got := secretProblem(c.name, c.value); (got == "") != c.fine {
			t.Errorf("secretProblem(%s, %s) = %q", c.name, c.value, got)
		}
	}
	file := readCompose(t)
	for name, s := range file.Services {
		secrets := 0
		for variable, value := range s.Environment {
			if problem := secretProblem(variable, value); problem != "" {
				t.Errorf("%s: %s", name, problem)
			}
			if required.MatchString(value) {
				secrets++
			}
		}
		if secrets == 0 {
			t.Errorf("%s runs without a password", name)
		}
	}
}

func TestNATSConfig(t *testing.T) {
	// In quotes, as compose passes it: without them digits would be a number.
	t.Setenv("ERRATA_NATS_PASSWORD", `"12345678"`)
	options, err := server.ProcessConfigFile("nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if !options.JetStream || !options.SyncAlways {
		t.Errorf("JetStream %v, sync always %v: what is acknowledged must be on disk", options.JetStream, options.SyncAlways)
	}
	if options.JetStreamMaxStore <= 0 || options.StoreDir != "/data" {
		t.Errorf("the store is %s with at most %d bytes; without a limit a full disk stops the log", options.StoreDir, options.JetStreamMaxStore)
	}
	if len(options.Users) != 1 || options.Users[0].Username != "errata" || options.Users[0].Password != "12345678" {
		t.Errorf("users are %+v, want errata with the password of the environment", options.Users)
	}
	if options.HTTPHost != "127.0.0.1" || options.HTTPPort != 8222 {
		t.Errorf("the monitoring listens on %s:%d, want loopback", options.HTTPHost, options.HTTPPort)
	}
	if options.MaxPayload < 1<<20 {
		t.Errorf("max_payload is %d, less than a message of the log may have", options.MaxPayload)
	}
}

func TestNATSConfigNeedsAPassword(t *testing.T) {
	t.Setenv("ERRATA_NATS_PASSWORD", "")
	if err := os.Unsetenv("ERRATA_NATS_PASSWORD"); err != nil {
		t.Fatal(err)
	}
	if options, err := server.ProcessConfigFile("nats.conf"); err == nil {
		t.Errorf("taken without a password, users %+v", options.Users)
	}
}

func TestClickHouseConfig(t *testing.T) {
	for name, want := range map[string]string{
		"clickhouse/config.d/errata.xml": "/clickhouse/logger/level=warning",
		"clickhouse/users.d/errata.xml":  "/clickhouse/profiles/default/async_insert=0",
	} {
		if got := leaves(t, name); !slices.Contains(got, want) {
			t.Errorf("%s has %q, want %s among them", name, got, want)
		}
	}
}

// TestAnalystIsTheSameEverywhere compares the analyst for external servers with the
// analyst of the embedded one.
func TestAnalystIsTheSameEverywhere(t *testing.T) {
	own, embedded := analystOf(t, "clickhouse/analyst.xml"), analystOf(t, "../engine/testdata/clickhouse-users.xml")
	if len(own) < 20 || !slices.Equal(own, embedded) {
		t.Errorf("the analyst here is\n%s\nand in the embedded engine\n%s", strings.Join(own, "\n"), strings.Join(embedded, "\n"))
	}
	if !strings.Contains(string(read(t, "clickhouse/analyst.xml")), `<password_sha256_hex from_env="ERRATA_ANALYST_PASSWORD_SHA256"/>`) {
		t.Error("the analyst's password is not taken from the environment")
	}
}

// analystOf are the bounds and rights of the analyst, without its password and its
// networks.
func analystOf(t *testing.T, name string) (found []string) {
	t.Helper()
	for _, leaf := range leaves(t, name) {
		if strings.Contains(leaf, "/profiles/analyst/") || strings.Contains(leaf, "/quotas/analyst/") ||
			strings.Contains(leaf, "/users/errata_analyst/") && !strings.Contains(leaf, "/password") && !strings.Contains(leaf, "/networks") {
			found = append(found, leaf)
		}
	}
	return found
}

// leaves are the texts of an XML file with the path of their element.
func leaves(t *testing.T, name string) []string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(read(t, name))))
	var at, found []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at = append(at, token.Name.Local)
		case xml.EndElement:
			at = at[:len(at)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				found = append(found, "/"+strings.Join(at, "/")+"="+text)
			}
		}
	}
}

func TestDockerfile(t *testing.T) {
	text := string(read(t, "Dockerfile"))
	stages := regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)`).FindAllStringSubmatch(text, -1)
	if len(stages) < 2 {
		t.Fatalf("the build is not left behind: %d stages", len(stages))
	}
	for _, stage := range stages[:len(stages)-1] {
		if !pinned.MatchString(stage[1]) {
			t.Errorf("the image %s is not pinned to a version", stage[1])
		}
	}
	if last := stages[len(stages)-1][1]; last != "scratch" {
		t.Errorf("the service stands on %s, want nothing under a static binary", last)
	}
	for _, want := range []string{
		"CGO_ENABLED=0", "-trimpath", `CMD ["/errata", "healthcheck"]`, `ENTRYPOINT ["/errata"]`, "ca-certificates.crt", "\nVOLUME /data\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
	user := regexp.MustCompile(`(?m)^USER (\d+)`).FindStringSubmatch(text)
	if user == nil || user[1] == "0" {
		t.Errorf("the service runs as %v, want a number that is not root's", user)
	}
}

func TestSystemdUnit(t *testing.T) {
	text := string(read(t, "errata.service"))
	for _, want := range []string{
		"DynamicUser=yes", "StateDirectory=errata", "NoNewPrivileges=yes", "ProtectSystem=strict",
		"KillMode=mixed", "TimeoutStopSec=15", "Restart=always", "ExecStart=/usr/local/bin/errata serve",
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the unit has no line %s", want)
		}
	}
}
