package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// program is a built errata.
type program struct {
	content  []byte
	platform ocispec.Platform
}

// readProgram reads a program that can run with no other file beside it.
func readProgram(path string) (program, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return program{}, err
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	p := program{content: content, platform: ocispec.Platform{OS: said["GOOS"], Architecture: said["GOARCH"]}}
	if p.platform.Architecture == "arm64" {
		p.platform.Variant = "v8" // as engines call it
	}
	if p.platform.OS != "linux" {
		return program{}, fmt.Errorf("it is for %s, and images are for linux", p.platform.OS)
	}
	file, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return program{}, err
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return program{}, errors.New("it needs libraries, which are not in the image; build it with CGO_ENABLED=0")
		}
	}
	return p, nil
}
