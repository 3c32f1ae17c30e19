package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	docker "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// config is what deploy/Dockerfile says about the image; a test compares the two.
// OCI knows no health check. Docker reads the one that stands here; podman does not.
func config() docker.DockerOCIImageConfig {
	return docker.DockerOCIImageConfig{
		ImageConfig: ocispec.ImageConfig{
			User:         strconv.Itoa(user) + ":" + strconv.Itoa(user),
			Env:          []string{"ERRATA_DATA=/data", "ERRATA_LISTEN=0.0.0.0:8080"},
			Volumes:      map[string]struct{}{"/data": {}},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			Entrypoint:   []string{"/errata"},
			Cmd:          []string{"serve"},
		},
		DockerOCIImageConfigExt: docker.DockerOCIImageConfigExt{Healthcheck: &docker.HealthcheckConfig{
			Test: []string{"CMD", "/errata", "healthcheck"}, Interval: 5 * time.Second, Timeout: 5 * time.Second,
			StartPeriod: 30 * time.Second, Retries: 3,
		}},
	}
}

// labels say what the image is, under the names of OCI.
func labels(r release) map[string]string {
	return map[string]string{
		ocispec.AnnotationTitle:    "errata",
		ocispec.AnnotationVersion:  r.version,
		ocispec.AnnotationRevision: r.revision,
		ocispec.AnnotationCreated:  r.created.Format(time.RFC3339),
		ocispec.AnnotationSource:   "https://github.com/errata-log/errata",
		ocispec.AnnotationLicenses: "Apache-2.0",
	}
}

// layout writes an OCI image layout as a tar file.
type layout struct {
	tape    *tar.Writer
	release release
	has     map[digest.Digest]bool
}

// write writes the layout with an image for each program, and an index of them under the
// name and the version.
func write(to io.Writer, r release, programs []program) error {
	l := layout{tape: tar.NewWriter(to), release: r, has: map[digest.Digest]bool{}}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Annotations: labels(r)}
	seen := map[string]bool{}
	for _, p := range programs {
		if seen[p.platform.Architecture] {
			return fmt.Errorf("two programs are for %s", p.platform.Architecture)
		}
		seen[p.platform.Architecture] = true
		manifest, err := l.image(p)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, manifest)
	}
	all, err := l.document(ocispec.MediaTypeImageIndex, index)
	if err != nil {
		return err
	}
	// A tag has no plus.
	all.Annotations = map[string]string{ocispec.AnnotationRefName: "errata:" + strings.ReplaceAll(r.version, "+", "-")}
	entry, err := json.Marshal(ocispec.Index{Versioned: index.Versioned, MediaType: index.MediaType, Manifests: []ocispec.Descriptor{all}})
	return errors.Join(err, l.file(ocispec.ImageIndexFile, entry),
		l.file(ocispec.ImageLayoutFile, []byte(`{"imageLayoutVersion":"`+ocispec.ImageLayoutVersion+`"}`)), l.tape.Close())
}

// image adds the image of one program.
func (l layout) image(p program) (ocispec.Descriptor, error) {
	layer, unpacked, err := pack(entries(p), l.release.created)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	packed, err := l.blob(ocispec.MediaTypeImageLayerGzip, layer)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	settings := docker.DockerOCIImage{
		Image: ocispec.Image{
			Created: &l.release.created, Platform: p.platform,
			RootFS:  ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{unpacked}},
			History: []ocispec.History{{Created: &l.release.created, CreatedBy: "deploy/image"}},
		},
		Config: config(),
	}
	settings.Config.Labels = labels(l.release)
	described, err := l.document(ocispec.MediaTypeImageConfig, settings)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	manifest, err := l.document(ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: described, Layers: []ocispec.Descriptor{packed},
	})
	manifest.Platform = &p.platform
	return manifest, err
}

func (l layout) document(kind string, value any) (ocispec.Descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return l.blob(kind, content)
}

// blob adds content under its digest, once.
func (l layout) blob(kind string, content []byte) (ocispec.Descriptor, error) {
	d := ocispec.Descriptor{MediaType: kind, Digest: digest.FromBytes(content), Size: int64(len(content))}
	if l.has[d.Digest] {
		return d, nil
	}
	l.has[d.Digest] = true
	return d, l.file(ocispec.ImageBlobsDir+"/sha256/"+d.Digest.Encoded(), content)
}

func (l layout) file(name string, content []byte) error {
	header := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: l.release.created}
	if err := l.tape.WriteHeader(header); err != nil {
		return err
	}
	_, err := l.tape.Write(content)
	return err
}
