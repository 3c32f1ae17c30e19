package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// programsIn says what was linked into the program of that path, or into each program
// of an archive of a release.
func programsIn(name string) ([]*buildinfo.BuildInfo, error) {
	if !strings.HasSuffix(name, ".tar.gz") {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read what is in %s: %w", name, err)
		}
		return []*buildinfo.BuildInfo{info}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	defer file.Close()
	found, err := programsInArchive(file)
	if err == nil && len(found) == 0 {
		err = errors.New("it holds no program")
	}
	if err != nil {
		return nil, fmt.Errorf("read the archive %s: %w", name, err)
	}
	return found, nil
}

// programsInArchive takes each file that may be executed and is no script for a program.
func programsInArchive(packed io.Reader) ([]*buildinfo.BuildInfo, error) {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	var found []*buildinfo.BuildInfo
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg || header.Mode&0o111 == 0 || path.Ext(header.Name) != "" {
			continue
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		found = append(found, info)
	}
}

// libraries are the packages with the ClickHouse library for each platform. The script
// that fetches it knows the same ones.
var libraries = map[string]string{
	"linux/amd64":  "@chdb/lib-linux-x64-gnu",
	"linux/arm64":  "@chdb/lib-linux-arm64-gnu",
	"darwin/arm64": "@chdb/lib-darwin-arm64",
	"darwin/amd64": "@chdb/lib-darwin-x64",
}

// libraryOf is the package with the ClickHouse library for the platform of a program, ""
// where there is none.
func libraryOf(info *buildinfo.BuildInfo) string {
	platform := map[string]string{}
	for _, s := range info.Settings {
		platform[s.Key] = s.Value
	}
	return libraries[platform["GOOS"]+"/"+platform["GOARCH"]]
}
