package deploy_test

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// release is the part of the configuration of releases that is checked.
type release struct {
	Builds []struct {
		Main    string   `yaml:"main"`
		Binary  string   `yaml:"binary"`
		Targets []string `yaml:"targets"`
		Env     []string `yaml:"env"`
		Flags   []string `yaml:"flags"`
		Tags    []string `yaml:"tags"`
		LDFlags []string `yaml:"ldflags"`
		Time    string   `yaml:"mod_timestamp"`
	} `yaml:"builds"`
	Archives []struct {
		Programs fileInfo  `yaml:"builds_info"`
		Files    []content `yaml:"files"`
	} `yaml:"archives"`
	Packages []struct {
		Formats  []string          `yaml:"formats"`
		BinDir   string            `yaml:"bindir"`
		Time     string            `yaml:"mtime"`
		Scripts  map[string]string `yaml:"scripts"`
		Contents []content         `yaml:"contents"`
		RPM      struct {
			BuildHost string `yaml:"buildhost"`
		} `yaml:"rpm"`
	} `yaml:"nfpms"`
	Checksum struct {
		Algorithm string `yaml:"algorithm"`
		Others    []struct {
			Glob string `yaml:"glob"`
		} `yaml:"extra_files"`
	} `yaml:"checksum"`
	Signs []struct {
		Artifacts string `yaml:"artifacts"`
	} `yaml:"signs"`
}

type content struct {
	Src      string   `yaml:"src"`
	Dst      string   `yaml:"dst"`
	Type     string   `yaml:"type"`
	FileInfo fileInfo `yaml:"file_info"`
	Info     fileInfo `yaml:"info"`
}

type fileInfo struct {
	Owner string `yaml:"owner"`
	Mode  int    `yaml:"mode"`
	Time  string `yaml:"mtime"`
}

func readRelease(t *testing.T) release {
	t.Helper()
	var r release
	if err := yaml.Unmarshal(read(t, "package/goreleaser.yml"), &r); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	if len(r.Builds) == 0 || len(r.Archives) != 1 || len(r.Packages) != 1 {
		t.Fatalf("%d builds, %d archives, %d packages", len(r.Builds), len(r.Archives), len(r.Packages))
	}
	return r
}

// packagedUnit is the unit as packages have it.
func packagedUnit(t *testing.T) string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "sh", "package/unit.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReleaseIsBuiltLikeMake compares the programs of a release with those of `make build`.
func TestReleaseIsBuiltLikeMake(t *testing.T) {
	r, makefile := readRelease(t), string(read(t, "../Makefile"))
	var programs []string
	for _, b := range r.Builds {
		programs = append(programs, strings.TrimPrefix(b.Main, "./cmd/"))
		if b.Binary != path.Base(b.Main) || !slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || b.Time == "" {
			t.Errorf("%s is built as %s with %v and the time %q", b.Main, b.Binary, b.Env, b.Time)
		}
		for _, want := range slices.Concat(b.Flags[:2], b.Tags, []string{strings.Split(b.LDFlags[0], "=")[0]}) {
			if !strings.Contains(makefile, want) {
				t.Errorf("%s is built with %s, which the Makefile does not have", b.Main, want)
			}
		}
		if want := []string{"linux_amd64_v1", "linux_arm64_v8.0", "darwin_arm64_v8.0"}; !slices.Equal(b.Targets, want) {
			t.Errorf("%s is built for %v, want %v", b.Main, b.Targets, want)
		}
	}
	if !strings.Contains(makefile, " --parallelism 1 ") {
		t.Error("programs are built at the same time, and an archive has them in the order in which they were ready")
	}
	commands, err := filepath.Glob("../cmd/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range commands {
		commands[i] = filepath.Base(commands[i])
	}
	if !slices.Equal(programs, commands) {
		t.Errorf("a release has %v, and cmd has %v", programs, commands)
	}
}

// TestPackagesFitTheUnit holds the list of files against the unit that uses them.
func TestPackagesFitTheUnit(t *testing.T) {
	p, unit := readRelease(t).Packages[0], packagedUnit(t)
	if !slices.Equal(p.Formats, []string{"deb", "rpm"}) {
		t.Errorf("packages are %v", p.Formats)
	}
	installed := map[string]content{}
	for _, c := range p.Contents {
		installed[c.Dst] = c
		if strings.HasPrefix(c.Dst, "/var/") || strings.HasPrefix(c.Dst, "/usr/local/") {
			t.Errorf("the package owns %s: the data belongs to the service, and /usr/local to the operator", c.Dst)
		}
		if c.FileInfo.Mode == 0 {
			t.Errorf("%s gets the mode of the checkout", c.Dst)
		}
	}
	for _, want := range []string{
		"ExecStart=" + p.BinDir + "/errata serve",
		"EnvironmentFile=-/etc/errata/errata.env",
		"Environment=ERRATA_DATA=/var/lib/errata ERRATA_CACHE=/usr/lib/errata ERRATA_LOG_FORMAT=json",
		"DynamicUser=yes", "StateDirectory=errata",
	} {
		if !strings.Contains(unit, "\n"+want+"\n") {
			t.Errorf("the unit of the package has no line %s", want)
		}
	}
	if strings.Contains(unit, "/usr/local/") {
		t.Error("the unit of the package names a file in /usr/local")
	}
	for _, want := range []string{"/usr/lib/systemd/system/errata.service", "/usr/lib/errata/fetch-libchdb.sh", "/usr/share/doc/errata/copyright"} {
		if installed[want].Src == "" {
			t.Errorf("the package has no %s", want)
		}
	}
	if c := installed["/etc/errata/errata.env"]; c.Type != "config|noreplace" || c.FileInfo.Mode != 0o600 {
		t.Errorf("the settings are %+v; want a file that updates keep and that others cannot read", c)
	}
	if got := slices.Sorted(maps.Keys(p.Scripts)); !slices.Equal(got, []string{"postinstall", "postremove", "preremove"}) {
		t.Errorf("scripts are %v", got)
	}
}

// TestReleaseFilesExist looks for what the configuration names, and for what would make
// two runs different.
func TestReleaseFilesExist(t *testing.T) {
	r := readRelease(t)
	p, archive := r.Packages[0], r.Archives[0]
	sources := slices.Collect(maps.Values(p.Scripts))
	for _, c := range slices.Concat(p.Contents, archive.Files) {
		// The packages' unit is written when they are made.
		if c.Src != "" && c.Src != "bin/package/errata.service" {
			sources = append(sources, strings.Split(c.Src, "{{")[0])
		}
	}
	for _, source := range sources {
		if info, err := os.Stat(filepath.Join("..", source)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v", source, err)
		}
	}
	var inArchive []string
	for _, c := range archive.Files {
		inArchive = append(inArchive, path.Base(c.Src+c.Dst))
		if c.Info.Mode == 0 || c.Info.Owner != "root" || c.Info.Time == "" {
			t.Errorf("%s has %+v in the archive, want a mode, an owner and a time", c.Src, c.Info)
		}
	}
	for _, want := range []string{"LICENSE", "README.md", "fetch-libchdb.sh"} {
		if !slices.ContainsFunc(inArchive, func(name string) bool { return strings.HasSuffix(name, want) }) {
			t.Errorf("the archive has no %s: %v", want, inArchive)
		}
	}
	if p.Time == "" || p.RPM.BuildHost == "" || archive.Programs.Time == "" {
		t.Error("a time or the host of the build goes into the packages")
	}
	// The Makefile makes the image there before goreleaser runs.
	if len(r.Checksum.Others) != 1 || r.Checksum.Others[0].Glob != "bin/package/errata_*_image.tar" ||
		!strings.Contains(string(read(t, "../Makefile")), `-o "bin/package/errata_$${version}_image.tar"`) {
		t.Errorf("the image is not in checksums.txt: %+v", r.Checksum.Others)
	}
	if r.Checksum.Algorithm != "sha256" || len(r.Signs) != 1 || r.Signs[0].Artifacts != "checksum" {
		t.Errorf("checksums %+v, signed %+v", r.Checksum, r.Signs)
	}
}

// TestPackagedSettings checks that the file of settings names settings that exist, and sets
// none.
func TestPackagedSettings(t *testing.T) {
	readme := string(read(t, "../README.md"))
	for line := range strings.Lines(string(read(t, "package/errata.env"))) {
		if !strings.HasPrefix(line, "#") {
			t.Errorf("it sets something: %s", line)
		}
		for _, name := range regexp.MustCompile(`ERRATA_[A-Z_]+=`).FindAllString(line, -1) {
			if name = strings.TrimSuffix(name, "="); name != "ERRATA_NAME" && !strings.Contains(readme, "`"+name+"`") {
				t.Errorf("the README does not list %s", name)
			}
		}
	}
}

// TestReleaseDocuments checks that the documents name what is installed, and how.
func TestReleaseDocuments(t *testing.T) {
	operations, releasing := string(read(t, "../docs/operations.md")), string(read(t, "../docs/releasing.md"))
	for _, want := range []string{
		"ERRATA_CACHE=/usr/lib/errata sh /usr/lib/errata/fetch-libchdb.sh", "/etc/errata/errata.env", "/var/lib/errata",
		"linux_amd64.deb", "linux_amd64.rpm", "linux_amd64.tar.gz", "errata_VERSION_image.tar", "sha256sum -c",
		"ERRATA_CACHE=/usr/local/lib/errata sh /usr/local/lib/errata/fetch-libchdb.sh",
	} {
		if !strings.Contains(operations, want) {
			t.Errorf("docs/operations.md does not say %s", want)
		}
	}
	for _, want := range []string{"make release-dry", "make release-reproducible", "SIGN_KEY", "CHANGELOG.md"} {
		if !strings.Contains(releasing, want) {
			t.Errorf("docs/releasing.md does not say %s", want)
		}
	}
	if post := string(read(t, "package/postinst.sh")); !strings.Contains(post, "lib=/usr/lib/errata\n") ||
		!strings.Contains(post, `fetch="ERRATA_CACHE=$lib sh $lib/fetch-libchdb.sh"`) {
		t.Error("the script after the installation names another command than the documents")
	}
}
