// Command image puts the built program errata into a container image for each of its
// platforms, and all of them into one file, an OCI image layout with an index:
//
//	go run ./deploy/image -version 1.4.0 -revision COMMIT -created TIME -o errata_1.4.0_image.tar PROGRAM [PROGRAM]
//
// The images are what deploy/Dockerfile makes: the program, authorities of certificates,
// and an empty data folder. The same programs make the same bytes, on every machine. It
// must not use the network or files of this machine besides the programs, so that there
// is no image below them to trust or to keep up to date.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// release is what the images say about themselves.
type release struct {
	version  string
	revision string    // the commit
	created  time.Time // when it was made
}

func main() {
	out := flag.String("o", "", "the `file` to write")
	version := flag.String("version", "", "the `version` of the release")
	revision := flag.String("revision", "", "its `commit`")
	created := flag.String("created", "", "the `time` of the commit, after RFC 3339")
	flag.Parse()
	when, err := time.Parse(time.RFC3339, *created)
	if err == nil {
		err = run(*out, release{*version, *revision, when.UTC()}, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run writes the file, or leaves none.
func run(out string, r release, paths []string) error {
	if out == "" || r.version == "" || r.revision == "" || len(paths) == 0 {
		return errors.New("usage: image -version VERSION -revision COMMIT -created TIME -o FILE PROGRAM [PROGRAM]")
	}
	var programs []program
	for _, path := range paths {
		p, err := readProgram(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		programs = append(programs, p)
	}
	file, err := os.CreateTemp(filepath.Dir(out), "image")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := errors.Join(write(file, r, programs), file.Chmod(0o644), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	return os.Rename(file.Name(), out)
}
