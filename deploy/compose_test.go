package deploy_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// compose is the part of a compose file that is checked.
type compose struct {
	dir      string             // of the file, from here
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
	Secrets  map[string]struct {
		Environment string `yaml:"environment"`
	} `yaml:"secrets"`
}

type service struct {
	Image       string            `yaml:"image"`
	Build       *build            `yaml:"build"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Secrets     []string          `yaml:"secrets"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Restart         string   `yaml:"restart"`
	StopGracePeriod string   `yaml:"stop_grace_period"`
	Privileged      bool     `yaml:"privileged"`
	NetworkMode     string   `yaml:"network_mode"`
	ReadOnly        bool     `yaml:"read_only"`
	CapDrop         []string `yaml:"cap_drop"`
	SecurityOpt     []string `yaml:"security_opt"`
}

type build struct {
	Context    string `yaml:"context"`
	Dockerfile string `yaml:"dockerfile"`
}

func readCompose(t *testing.T, name string, services ...string) compose {
	t.Helper()
	file := compose{dir: filepath.Dir(name)}
	if err := yaml.Unmarshal(read(t, name), &file); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	if got := slices.Sorted(maps.Keys(file.Services)); !slices.Equal(got, services) {
		t.Fatalf("services of %s are %v", name, got)
	}
	return file
}

// composes are what operators start: the compose file, that file and the one of the
// monitoring together, as compose joins them, and the one with the engines inside.
func composes(t *testing.T) map[string]compose {
	t.Helper()
	const plain = "../docker-compose.yml"
	all := map[string]compose{
		"docker-compose.yml": readCompose(t, plain, "clickhouse", "errata", "nats"),
		"with monitoring":    readCompose(t, plain, "clickhouse", "errata", "nats"),
		"all in one":         readCompose(t, "docker-compose.all.yml", "errata"),
	}
	both, more := all["with monitoring"], readCompose(t, "docker-compose.monitoring.yml", "clickhouse", "grafana", "prometheus")
	maps.Copy(both.Volumes, more.Volumes)
	both.Secrets = more.Secrets
	for name, s := range more.Services {
		if there, known := both.Services[name]; known {
			maps.Copy(there.Environment, s.Environment)
			there.Volumes = append(there.Volumes, s.Volumes...)
			s = there
		}
		both.Services[name] = s
	}
	all["with monitoring"] = both
	return all
}

// eachCompose runs a test on each of [composes].
func eachCompose(t *testing.T, check func(t *testing.T, file compose)) {
	t.Helper()
	for name, file := range composes(t) {
		t.Run(name, func(t *testing.T) { check(t, file) })
	}
}

// pinned matches an image with at least a major and a minor number. An image with
// "latest", a major number alone or no tag changes without the operator's doing.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+\.[0-9]+[a-z0-9.-]*$`)

func TestPinned(t *testing.T) {
	for image, want := range map[string]bool{
		"nats:2.15.2-alpine": true, "clickhouse/clickhouse-server:26.7": true,
		"prom/prometheus:v3.13.1": true, "prom/prometheus:v3": false,
		"nats": false, "nats:latest": false, "nats:2": false, "nats:alpine": false,
	} {
		if got := pinned.MatchString(image); got != want {
			t.Errorf("pinned(%s) = %v", image, got)
		}
	}
}

func TestComposeImages(t *testing.T) {
	eachCompose(t, func(t *testing.T, file compose) {
		for name, s := range file.Services {
			if s.Build == nil && !pinned.MatchString(s.Image) {
				t.Errorf("%s: the image %q is not pinned to a version", name, s.Image)
			}
		}
		if nats, own := file.Services["nats"]; own && !atLeast(t, nats.Image, 2, 15) {
			t.Errorf("nats: %s is older than 2.15, which acknowledges before the fsync of compacted blocks", nats.Image)
		}
		if clickhouse, own := file.Services["clickhouse"]; own && !atLeast(t, clickhouse.Image, 26, 5) {
			t.Errorf("clickhouse: %s is older than 26.5, which does not read the projection in order", clickhouse.Image)
		}
		b := file.Services["errata"].Build
		if b == nil || filepath.Join(file.dir, b.Context) != ".." {
			t.Fatalf("errata: build is %+v, want the repository as its context", b)
		}
		read(t, "../"+b.Dockerfile)
		if inside, alone := b.Dockerfile == "deploy/Dockerfile.all", len(file.Services) == 1; inside != alone {
			t.Errorf("errata: %s has engines inside: %v, and there are others: %v", b.Dockerfile, inside, !alone)
		}
	})
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
	eachCompose(t, func(t *testing.T, file compose) {
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
			_, runs := file.Services[engine]
			if _, waits := file.Services["errata"].DependsOn[engine]; runs && !waits {
				t.Errorf("errata does not wait for %s", engine)
			}
		}
		if got := file.Services["errata"].Healthcheck.Test; !slices.Equal(got, []string{"CMD", "/errata", "healthcheck"}) {
			t.Errorf("errata: the health check is %q", got)
		}
		if grace := file.Services["errata"].StopGracePeriod; grace != "15s" {
			t.Errorf("errata: stop_grace_period is %q; a clean shutdown takes up to 10 s and the default is to kill after 10", grace)
		}
	})
}

func TestComposeIsReachedFromThisMachineOnly(t *testing.T) {
	eachCompose(t, func(t *testing.T, file compose) {
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
		errata := file.Services["errata"]
		if len(errata.Ports) == 0 {
			t.Error("errata publishes no port")
		}
		if !errata.ReadOnly || !slices.Equal(errata.CapDrop, []string{"ALL"}) || !slices.Contains(errata.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("errata has more rights than it needs: read-only %v, without the capabilities %q, security %q", errata.ReadOnly, errata.CapDrop, errata.SecurityOpt)
		}
	})
}

func TestComposeKeepsData(t *testing.T) {
	eachCompose(t, func(t *testing.T, file compose) {
		for name, folder := range map[string]string{"nats": "/data", "clickhouse": "/var/lib/clickhouse", "errata": "/data"} {
			if _, runs := file.Services[name]; !runs {
				continue
			}
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
	})
}

// required matches a variable without which compose fails.
var required = regexp.MustCompile(`\$\{[A-Z0-9_]+:\?[^}]+\}`)

// secretProblem says what is wrong with a variable that holds a secret. It is "" for
// other variables, and when nothing is wrong.
func secretProblem(name, value string) string {
	inURL := regexp.MustCompile(`://[^:/@]*:(.*)@`).FindStringSubmatch(value)
	switch {
	case inURL != nil:
		value = inURL[1]
	case !strings.Contains(name, "PASSWORD") && !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN") && !strings.Contains(name, "SECRET"):
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
		{"X_SECRET", "${X_SECRET:-s3cret}", false},
	} {
		if got := secretProblem(c.name, c.value); (got == "") != c.fine {
			t.Errorf("secretProblem(%s, %s) = %q", c.name, c.value, got)
		}
	}
	eachCompose(t, func(t *testing.T, file compose) {
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
			for _, secret := range s.Secrets { // compose fails without the variable
				if file.Secrets[secret].Environment != "" {
					secrets++
				}
			}
			if secrets == 0 && len(file.Services) > 1 { // alone, it makes its own
				t.Errorf("%s runs without a password", name)
			}
		}
	})
}

// TestMonitoringFindsItsFiles: Prometheus and Grafana look where the files are mounted, and
// variables that they name are set.
func TestMonitoringFindsItsFiles(t *testing.T) {
	file := composes(t)["with monitoring"]
	mounted := strings.Join(append(file.Services["prometheus"].Volumes, file.Services["grafana"].Volumes...), "\n")
	for _, want := range []string{
		"/prometheus.yaml:/etc/prometheus/prometheus.yml:", "/errata.rules.yaml:/etc/prometheus/errata.rules.yaml:",
		"/errata.yaml:/etc/grafana/provisioning/datasources/", "/errata.yaml:/etc/grafana/provisioning/dashboards/",
		"/errata-service.json:/etc/grafana/errata/", "/errata-errors.json:/etc/grafana/errata/",
	} {
		if !strings.Contains(mounted, want) {
			t.Errorf("nothing is mounted as %s", want)
		}
	}
	for name, parts := range map[string][]string{
		"grafana/provisioning/dashboards/errata.yaml": {"path: /etc/grafana/errata\n"},
		"prometheus/prometheus.yaml":                  {"- errata.rules.yaml\n", "job_name: errata\n", "credentials_file: /run/secrets/errata_metrics_key\n", `["errata:8080"]`},
	} {
		for _, part := range parts {
			if !strings.Contains(string(read(t, name)), part) {
				t.Errorf("%s has no %s", name, part)
			}
		}
	}
	for _, variable := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(string(read(t, "grafana/provisioning/datasources/errata.yaml")), -1) {
		if file.Services["grafana"].Environment[variable[1]] == "" {
			t.Errorf("grafana has no variable %s", variable[1])
		}
	}
}
