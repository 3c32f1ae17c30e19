package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// built are a program for each platform, as far as the images look at them.
func built() []program {
	return []program{
		{[]byte("for amd64"), ocispec.Platform{OS: "linux", Architecture: "amd64"}},
		{[]byte("for arm64"), ocispec.Platform{OS: "linux", Architecture: "arm64", Variant: "v8"}},
	}
}

var version = release{"1.4.0+3.gabc", "abc", time.Date(2026, 11, 26, 15, 0, 0, 0, time.UTC)}

// file is one file or folder in an archive.
type file struct {
	header  *tar.Header
	content []byte
}

func untar(t *testing.T, from io.Reader) map[string]file {
	t.Helper()
	found := map[string]file{}
	for tape := tar.NewReader(from); ; {
		header, err := tape.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(tape)
		if _, twice := found[header.Name]; err != nil || twice {
			t.Fatalf("%s: %v, twice %t", header.Name, err, twice)
		}
		found[header.Name] = file{header, content}
	}
}

// blob reads what a descriptor names, and compares it with its digest and size.
func blob(t *testing.T, files map[string]file, d ocispec.Descriptor, kind string) []byte {
	t.Helper()
	content := files["blobs/sha256/"+d.Digest.Encoded()].content
	if d.MediaType != kind || d.Size != int64(len(content)) || d.Digest != digest.FromBytes(content) {
		t.Fatalf("%+v has %d bytes with digest %s; want %s", d, len(content), digest.FromBytes(content), kind)
	}
	return content
}

func decode(t *testing.T, content []byte, value any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		t.Fatal(err)
	}
}

// TestUnpack reads both images back: each holds the program of its platform, and what
// deploy/Dockerfile says.
func TestUnpack(t *testing.T) {
	var out bytes.Buffer
	if err := write(&out, version, built()); err != nil {
		t.Fatal(err)
	}
	files := untar(t, &out)
	if got := string(files["oci-layout"].content); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", got)
	}
	var entry, index ocispec.Index
	decode(t, files["index.json"].content, &entry)
	if len(entry.Manifests) != 1 || entry.Manifests[0].Annotations[ocispec.AnnotationRefName] != "errata:1.4.0-3.gabc" {
		t.Fatalf("index.json is %+v", entry)
	}
	decode(t, blob(t, files, entry.Manifests[0], ocispec.MediaTypeImageIndex), &index)
	if len(index.Manifests) != 2 || index.Annotations[ocispec.AnnotationVersion] != "1.4.0+3.gabc" {
		t.Fatalf("the index is %+v", index)
	}
	for i, p := range built() {
		d := index.Manifests[i]
		if d.Platform == nil || !equalJSON(t, *d.Platform, p.platform) {
			t.Errorf("image %d is for %+v, want %+v", i, d.Platform, p.platform)
		}
		var manifest ocispec.Manifest
		decode(t, blob(t, files, d, ocispec.MediaTypeImageManifest), &manifest)
		var settings docker.DockerOCIImage
		decode(t, blob(t, files, manifest.Config, ocispec.MediaTypeImageConfig), &settings)
		if !equalJSON(t, settings.Platform, p.platform) || !settings.Created.Equal(version.created) || settings.Config.Labels[ocispec.AnnotationRevision] != "abc" {
			t.Errorf("%s: its settings are %+v", p.platform.Architecture, settings)
		}
		checkDockerfile(t, settings.Config)
		if len(manifest.Layers) != 1 || len(settings.RootFS.DiffIDs) != 1 {
			t.Fatalf("%s has %d layers and %d in its settings", p.platform.Architecture, len(manifest.Layers), len(settings.RootFS.DiffIDs))
		}
		zip, err := gzip.NewReader(bytes.NewReader(blob(t, files, manifest.Layers[0], ocispec.MediaTypeImageLayerGzip)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(zip)
		if err != nil || settings.RootFS.DiffIDs[0] != digest.FromBytes(plain) {
			t.Errorf("%s: the layer has digest %s, %v", p.platform.Architecture, digest.FromBytes(plain), err)
		}
		checkFiles(t, untar(t, bytes.NewReader(plain)), p)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	left, err := json.Marshal(a)
	right, err2 := json.Marshal(b)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(left, right)
}

// checkFiles checks what a container of the image sees.
func checkFiles(t *testing.T, files map[string]file, p program) {
	t.Helper()
	got := map[string]string{}
	for name, f := range files {
		got[name] = fmt.Sprintf("%o %d:%d", f.header.Mode, f.header.Uid, f.header.Gid)
		if !f.header.ModTime.Equal(version.created) {
			t.Errorf("%s has the time %s, want that of the commit", name, f.header.ModTime)
		}
	}
	want := map[string]string{
		"etc/": "755 0:0", "etc/ssl/": "755 0:0", "etc/ssl/certs/": "755 0:0", "etc/ssl/certs/ca-certificates.crt": "644 0:0",
		"errata": "755 0:0", "data/": "755 65532:65532",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", p.platform.Architecture, got, want)
	}
	if !bytes.Equal(files["errata"].content, p.content) {
		t.Errorf("%s holds another program", p.platform.Architecture)
	}
	now, trusted := time.Now(), 0
	for rest := files["etc/ssl/certs/ca-certificates.crt"].content; len(rest) > 0; trusted++ {
		block, after := pem.Decode(rest)
		if block == nil {
			t.Fatalf("after %d authorities there is something else", trusted)
		}
		if authority, err := x509.ParseCertificate(block.Bytes); err != nil || !authority.IsCA || now.Before(authority.NotBefore) {
			t.Errorf("authority %d: %v", trusted, err)
		}
		rest = after
	}
	if trusted < 100 {
		t.Errorf("%d authorities, want more than a hundred", trusted)
	}
}

// checkDockerfile compares with the last stage of deploy/Dockerfile, line by line.
func checkDockerfile(t *testing.T, c docker.DockerOCIImageConfig) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, stage, _ := strings.Cut(string(text), "\nFROM scratch\n")
	var want []string
	for line := range strings.Lines(stage) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "COPY ") {
			want = append(want, line)
		}
	}
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	port, _, _ := strings.Cut(strings.Join(slices.Collect(maps.Keys(c.ExposedPorts)), " "), "/tcp")
	h := c.Healthcheck
	got := []string{
		"USER " + c.User,
		"ENV " + strings.Join(c.Env, " "),
		"VOLUME " + strings.Join(slices.Collect(maps.Keys(c.Volumes)), " "),
		"EXPOSE " + port,
		fmt.Sprintf("HEALTHCHECK --interval=%s --timeout=%s --start-period=%s --retries=%d %s %s", h.Interval, h.Timeout, h.StartPeriod, h.Retries, h.Test[0], list(h.Test[1:])),
		"ENTRYPOINT " + list(c.Entrypoint),
		"CMD " + list(c.Cmd),
	}
	if !slices.Equal(got, want) {
		t.Errorf("the image says\n%s\nand deploy/Dockerfile\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	if err := errors.Join(write(&first, version, built()), write(&second, version, built())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
}

// TestReadsPrograms builds a program, and refuses what could not run in its image.
func TestReadsPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/a\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := filepath.Join(dir, "good")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-o", good)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out := filepath.Join(dir, "image.tar")
	if err := run(out, version, []string{good}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if files := untar(t, file); len(files) != 6 { // index.json, oci-layout, index, manifest, settings, layer
		t.Errorf("it holds %v", slices.Sorted(maps.Keys(files)))
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{good: "two programs are for amd64", shell: "not a Go executable", dir: "is a directory"} {
		other := filepath.Join(dir, "other.tar")
		err := run(other, version, []string{good, path})
		if left, _ := filepath.Glob(filepath.Join(dir, "*.tar")); err == nil || !strings.Contains(err.Error(), want) || len(left) != 1 {
			t.Errorf("%s: %v, and there is %v; want %q and no file", path, err, left, want)
		}
	}
}
